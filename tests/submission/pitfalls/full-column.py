def agent(obs, config):
    return config.columns // 2
