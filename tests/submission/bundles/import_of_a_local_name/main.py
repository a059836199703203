def agent(obs, config):
    from helper import first

    if obs:
        first = len
    return first(obs)
