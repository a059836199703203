import pickle


class Net:
    weights = (1, 2, 3)


STORED = pickle.dumps(Net())


def agent(obs, config):
    return next(c for c in range(config.columns) if obs.board[c] == 0)
