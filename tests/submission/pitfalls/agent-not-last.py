def agent(obs, config):
    return next(c for c in range(config.columns) if obs.board[c] == 0)


def score(board, column):
    return -abs(column - 3)
