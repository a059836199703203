from pkg.inner.deep import deep


def agent(obs, config):
    return deep(obs)
