from helper import Player

agent = Player(3).__call__
"""Text after the agent does no harm."""
pass
