def agent(obs, config):
    while True:
        pass
