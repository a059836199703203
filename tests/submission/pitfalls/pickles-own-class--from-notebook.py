import base64
import pickle


class Net:
    pass


# pickle.dumps(Net()) in a notebook, where the class belonged to __main__
NET = pickle.loads(base64.b64decode("gASVFwAAAAAAAACMCF9fbWFpbl9flIwDTmV0lJOUKYGULg=="))


def agent(obs, config):
    return next(c for c in range(config.columns) if obs.board[c] == 0)
