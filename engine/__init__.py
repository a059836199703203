"""What agents are made of: rules, evaluation, search and time. Standard library and numpy only."""
