from contextlib import nullcontext
from typing import NamedTuple


class Player(NamedTuple):
    step: int

    def move(self):
        from late import decide

        return decide(self.step)

    @staticmethod
    def other():
        def inner():
            from late import decide as choose
            return choose(2)

        return inner()


def only_an_import():
    from late import decide  # noqa


def on_a_condition(x):
    if x:
        from late import decide
    else:
        from late import decide
    with nullcontext():
        from later import last
    return [decide(value) for value in range(3)] + [last()]


async def unused():
    from late import decide

    return decide


def agent(obs, config):
    import math

    from late import decide as choose, LIMIT
    first = lambda: choose(LIMIT)
    only_an_import()
    return [Player(obs).move(), Player.other(), on_a_condition(obs), first(), math.floor(1.5)]
