import space.one as one, space


def agent(obs, config):
    import space.two

    return [one.value, space.two.value, space.__name__, space is one.package]
