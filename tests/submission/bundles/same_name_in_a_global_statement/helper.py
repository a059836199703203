cache = {}

def first(obs):
    return len(cache)
