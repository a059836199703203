import time

TABLE = []


def agent(obs, config):
    if not TABLE:
        time.sleep(config.actTimeout + 0.3)  # builds its tables
        TABLE.append(1)
    return next(c for c in range(config.columns) if obs.board[c] == 0)
