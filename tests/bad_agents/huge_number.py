def agent(obs, config):
    return 10**100_000
