"""How well an agent plays: games, matches and what may be concluded from them."""
