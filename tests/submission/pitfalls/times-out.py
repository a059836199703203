import time


def agent(obs, config):
    time.sleep(config.actTimeout + obs.remainingOverageTime + 0.2)
    return next(c for c in range(config.columns) if obs.board[c] == 0)
