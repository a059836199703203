"""What plays: one file an agent, a reader's path from random to strong play."""
