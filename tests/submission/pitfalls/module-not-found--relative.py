from .helpers import first_legal


def agent(obs, config):
    return first_legal(obs, config)
