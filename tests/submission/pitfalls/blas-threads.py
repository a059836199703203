import numpy as np

WEIGHTS = np.ones((700, 700))


def agent(obs, config):
    values = WEIGHTS @ WEIGHTS
    return max((c for c in range(config.columns) if obs.board[c] == 0), key=lambda c: values[c, c])
