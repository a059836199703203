TABLE = [10, 20, 30]
CENTRE = TABLE[3]


def agent(obs, config):
    return next(c for c in range(config.columns) if obs.board[c] == 0)
