from pkg import LIMIT

def first(obs):
    return LIMIT
