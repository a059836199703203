from helper import Path, first

def agent(obs, config):
    return first(Path)
