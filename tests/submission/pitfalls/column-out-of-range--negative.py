def agent(obs, config):
    return -1
