from helper import first as f
from other import g

def agent(obs, config):
    return f(obs) + g(obs)
