def __first(obs):
    return 0
