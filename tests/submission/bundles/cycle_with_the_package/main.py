from pkg import first

def agent(obs, config):
    return first(obs)
