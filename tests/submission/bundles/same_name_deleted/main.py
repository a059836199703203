import math
from helper import first

del math

def agent(obs, config):
    return first(obs)
