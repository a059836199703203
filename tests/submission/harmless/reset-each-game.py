HISTORY = []


def agent(obs, config):
    if obs.step < 2:
        HISTORY.clear()
    HISTORY.append(obs.step)
    legal = [c for c in range(config.columns) if obs.board[c] == 0]
    return legal[len(HISTORY) % len(legal)]
