def agent(obs, config):
    return {"move": [object]}
