import secrets


def agent(obs, config):
    return secrets.choice([c for c in range(config.columns) if obs.board[c] == 0])
