def agent(obs, config):
    from scipy.special import expit

    return round(expit(-1))
