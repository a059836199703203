def agent(first, config):
    from helper import first as f

    return f(first)
