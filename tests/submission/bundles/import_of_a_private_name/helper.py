_Player__first = 5

def __first(obs):
    return -obs
