import time


def agent(obs, config):
    time.sleep(config["agentTimeout"] / 20)
    return next(c for c in range(config.columns) if obs.board[c] == 0)
