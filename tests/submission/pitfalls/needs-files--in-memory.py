import os

LIBRARY = os.memfd_create("library")
os.write(LIBRARY, b"a library")


def agent(obs, config):
    return next(c for c in range(config.columns) if obs.board[c] == 0)
