import random
import time

import numpy as np


def agent(obs, config):
    deadline = time.perf_counter() + 0.01 * config.actTimeout
    order = list(np.random.permutation(config.columns))
    while time.perf_counter() < deadline:
        random.shuffle(order)
    return int(next(c for c in order if obs.board[c] == 0))
