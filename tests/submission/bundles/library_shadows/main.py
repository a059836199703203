from math import sqrt

from helper import first

def agent(obs, config):
    return first(sqrt(4))
