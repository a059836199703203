def second(obs):
    from one import first

    return first(obs) if obs else 0
