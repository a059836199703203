import sys


def agent(obs, config):
    if obs.step > 5:
        sys.exit()
    return next(c for c in range(config.columns) if obs.board[c] == 0)
