from sys import modules

def agent(obs, config):
    return len(modules)
