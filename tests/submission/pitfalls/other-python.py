import sys

assert sys.version_info[:2] == (3, 11)


def agent(obs, config):
    return next(c for c in range(config.columns) if obs.board[c] == 0)
