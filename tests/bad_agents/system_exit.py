import sys


def agent(obs, config):
    sys.exit("enough")
