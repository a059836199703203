import sys


def agent(obs, config):
    sys.stdout.close()
    return 3
