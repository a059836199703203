from two import second

def first(obs):
    return second(obs)
