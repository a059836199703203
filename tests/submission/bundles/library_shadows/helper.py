def sqrt(x):
    return x

def first(obs):
    return sqrt(obs)
