def first(obs):
    return 0

def second(obs):
    return 1
