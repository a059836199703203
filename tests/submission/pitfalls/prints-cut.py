def agent(obs, config):
    print("thinking " * 2000)
    return next(c for c in range(config.columns) if obs.board[c] == 0)
