"""What agents are made of: rules, evaluation, search, exact values and time. Standard library and numpy only."""
