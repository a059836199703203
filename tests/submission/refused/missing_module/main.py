from pkg.helpre import first

def agent(obs, config):
    return first(obs)
