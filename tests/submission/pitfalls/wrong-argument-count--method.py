class Player:
    def act(self, obs):
        return next(c for c in range(7) if obs.board[c] == 0)


agent = Player().act  # its code counts self, so Kaggle passes obs and config
