class Move:
    column = 0

def agent(obs, config):
    return len(Move.__module__)
