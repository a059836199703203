def agent(obs, config):
    return sorted(name for name in globals() if not name.startswith("__"))
