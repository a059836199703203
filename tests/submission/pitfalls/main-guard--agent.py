def first_legal(board, columns):
    return next(c for c in range(columns) if board[c] == 0)


if __name__ == "__main__":

    def agent(obs, config):
        return first_legal(obs.board, config.columns)
