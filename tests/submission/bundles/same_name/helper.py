WEIGHT = 2

def first(obs):
    return WEIGHT
