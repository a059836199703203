import counter
from counter import bump


def agent(obs, config):
    bump()
    counter.total += obs
    return [counter.count, counter.total, bump.__globals__ is vars(counter)]
