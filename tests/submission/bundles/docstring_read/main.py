"""Plays column 0."""

def agent(obs, config):
    return len(__doc__) - 17
