NAMES = [name for name in dir() if not name.startswith("__")]

def agent(obs, config):
    return NAMES
