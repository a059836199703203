def agent(obs, config):
    return obs.board[0] == 0
