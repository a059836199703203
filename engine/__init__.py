"""What agents are made of: rules, evaluation, search, exact values, time. Standard library and numpy only."""
