import tempfile


def agent(obs, config):
    with tempfile.TemporaryFile() as file:
        file.write(b"a library")
    return next(c for c in range(config.columns) if obs.board[c] == 0)
