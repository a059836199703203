import os

FOLDER = os.path.dirname(os.path.abspath(__file__))


def agent(obs, config):
    return next(c for c in range(config.columns) if obs.board[c] == 0)
