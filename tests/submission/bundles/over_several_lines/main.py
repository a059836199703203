from helper import (  # what it needs
    one,
    # the second of them
    two as second,

    three,
)
from helper import one as first, \
    three as third
from \
    helper \
    import two

LINE = 14


def agent(obs, config):
    from helper import (
        one as a,

            # far to the right
        three,
    # far to the left
    two)
    return [one(), second(), three(), first(), third(), two(), a(), LINE]
