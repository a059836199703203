def agent(obs, config):
    print("thinking about step", obs.step)
    return next(c for c in range(config.columns) if obs.board[c] == 0)
