from sys import stderr


def agent(obs, config):
    print("move", obs.step, file=stderr)
    return next(c for c in range(config.columns) if obs.board[c] == 0)
