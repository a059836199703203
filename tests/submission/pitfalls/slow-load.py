import time

time.sleep(0.8)  # builds its tables


def agent(obs, config):
    return next(c for c in range(config.columns) if obs.board[c] == 0)
