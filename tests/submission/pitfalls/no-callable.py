# The agent was left in another cell.
DEPTH = 4
