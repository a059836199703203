from folder.sub.leaf import leaf


def agent(obs, config):
    return leaf() + obs
