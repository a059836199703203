def agent(obs, config):
    """Blind where four columns are full, which its own games never come to."""
    legal = [c for c in range(config.columns) if obs.board[c] == 0]
    return legal[0] if len(legal) > 3 or 0 in legal else 0
