def agent(obs, config):
    first = 1

    def inner():
        from helper import first

        return first(obs)

    return inner() - first
