import math

def first(obs):
    return int(math.pi)
