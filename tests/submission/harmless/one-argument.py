def agent(obs):
    return next(c for c in range(len(obs.board)) if obs.board[c] == 0)
