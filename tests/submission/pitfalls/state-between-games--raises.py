SEEN = []


def agent(obs, config):
    if SEEN and sum(map(bool, obs.board)) < SEEN[-1]:
        raise ValueError("discs have vanished from the board")
    SEEN.append(sum(map(bool, obs.board)))
    return next(c for c in range(config.columns) if obs.board[c] == 0)
