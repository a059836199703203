def flat():
    from .. import BASE

    return BASE + 1
