from helper import first

def agent(obs, config):
    global cache
    cache = first(obs)
    return cache
