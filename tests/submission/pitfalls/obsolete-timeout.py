import time


def agent(obs, config):
    deadline = time.perf_counter() + 0.001 * config.timeout
    while time.perf_counter() < deadline:
        pass
    return next(c for c in range(config.columns) if obs.board[c] == 0)
