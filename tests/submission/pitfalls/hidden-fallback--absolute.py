import numpy as np


def load_weights():
    try:
        return np.load("/kaggle_simulations/agent/weights.npy")
    except (OSError, ValueError):
        return np.zeros(7)


WEIGHTS = load_weights()


def agent(obs, config):
    legal = [c for c in range(config.columns) if obs.board[c] == 0]
    return max(legal, key=lambda c: WEIGHTS[c % 7])
