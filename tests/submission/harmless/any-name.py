import functools


def helper(depth, obs, config):
    return obs.board.index(0)


my_agent = functools.partial(helper, 3)
