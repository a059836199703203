# This comment stays.
WEIGHT = 10


def double(x):
    return 2 * x  # and this one
