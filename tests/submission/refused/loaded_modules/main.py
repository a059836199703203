import sys as system

def agent(obs, config):
    return len(system.modules)
