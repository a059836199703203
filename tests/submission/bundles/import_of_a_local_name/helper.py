def first(obs):
    return 0
