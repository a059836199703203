def second(obs):
    from one import first

    return first(obs - 1) if obs else 0
