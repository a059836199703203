def agent(obs, config):
    if obs.board[3] == 0:
        return 3
