def agent(obs, config):
    order = [3, 2, 4]
    legal = [c for c in order if obs.board[c] == 0]
    return legal[0]
