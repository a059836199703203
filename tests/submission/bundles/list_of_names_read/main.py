from helper import first

def agent(obs, config):
    return len(__all__) + first(obs)
