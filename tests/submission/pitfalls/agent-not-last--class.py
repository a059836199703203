def agent(obs, config):
    return next(c for c in range(config.columns) if obs.board[c] == 0)


class Node:
    def __init__(self, board, mark):
        self.board = board
