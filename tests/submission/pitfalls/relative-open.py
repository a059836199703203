import json

with open("weights.json") as file:
    WEIGHTS = json.load(file)


def agent(obs, config):
    return next(c for c in range(config.columns) if obs.board[c] == 0)
