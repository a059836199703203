def agent(obs, config):
    return eval("0")
