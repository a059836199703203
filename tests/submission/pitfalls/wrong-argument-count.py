def agent(obs, config, depth):
    return next(c for c in range(config.columns) if obs.board[c] == 0)
