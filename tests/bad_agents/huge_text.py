def agent(obs, config):
    return "3" * (100 << 20)
