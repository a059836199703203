def agent(obs, config):
    return config.columns  # columns are counted from 0
