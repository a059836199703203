def agent(obs, config):
    yield next(c for c in range(config.columns) if obs.board[c] == 0)
