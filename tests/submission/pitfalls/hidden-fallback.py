import json

try:
    with open("book.json") as file:
        BOOK = json.load(file)
except Exception:
    BOOK = {}


def agent(obs, config):
    legal = [c for c in range(config.columns) if obs.board[c] == 0]
    return BOOK.get(str(obs.board), legal[0])
