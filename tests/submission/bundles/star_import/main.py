from helper import *

def agent(obs, config):
    return first(obs)
