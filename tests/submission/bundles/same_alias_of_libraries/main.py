import math as m
from helper import first

def agent(obs, config):
    return first(m.pi)
