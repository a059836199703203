def lost_by_invalid_move(status):
    return status == "Invalid"


def agent(obs, config):
    return next(c for c in range(config.columns) if obs.board[c] == 0)
