class Player:
    def __call__(self, obs):
        return next(c for c in range(7) if obs.board[c] == 0)


agent = Player()
