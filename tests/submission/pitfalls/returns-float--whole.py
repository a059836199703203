def agent(obs, config):
    return (config.columns - 1) / 2
