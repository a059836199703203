class Player:
    def __init__(self, obs, config):
        self.column = next(c for c in range(config.columns) if obs.board[c] == 0)
