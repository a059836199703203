def agent(*args):
    obs, config = args
    return next(c for c in range(config.columns) if obs.board[c] == 0)
