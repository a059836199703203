def agent(obs, config):
    from importlib import import_module

    return import_module("helper").first(obs)
