import sys


def agent(obs, config):
    sys.setrecursionlimit(10**9)
    deep = []
    for _ in range(10**6):
        deep = [deep]
    return len(repr(deep))
