def agent(obs, config):
    column = obs.board.index(0)
    obs.board[column] = 2
    obs.clear()
    config["columns"] = 1
    return column
