def score(obs, column):
    return 0


def agent(obs, config):
    return next(c for c in range(config.columns) if obs.board[c] == 0)


# The second run of the notebook's cell, which appended to the file:
def score(obs, column):
    return -column


def agent(obs, config):
    return max((c for c in range(config.columns) if obs.board[c] == 0), key=lambda c: score(obs, c))
