import os


def agent(obs, config):
    if obs.step > 3:
        os._exit(0)
    return next(c for c in range(config.columns) if obs.board[c] == 0)
