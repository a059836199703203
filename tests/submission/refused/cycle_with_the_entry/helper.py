from main import LIMIT

def first(obs):
    return LIMIT
