from .side import SIDE as side


def top():
    return [side]
