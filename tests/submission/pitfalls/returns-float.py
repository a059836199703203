def agent(obs, config):
    return config.columns // 2 + 0.5
