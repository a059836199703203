def agent(obs, config):
    return len(globals())
