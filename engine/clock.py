"""How long a move may take.

Kaggle loses a move for the agent when it takes more than `actTimeout` seconds and the excess is more than
what is left of the game's bank, `remainingOverageTime`. The bank is a reserve for what nobody can plan:
loading the file, which is charged to the first move, or a machine that stalls. It is never planned with;
but when it is nearly used up, moves keep further away from the limit.

All the kit's agents read the time here, and as `time.perf_counter()`, so that a test can replace it.
"""

import time
from typing import Any

MARGIN_SHARE = 0.15  # of the limit: freeing a search's memory takes time too, in proportion
MARGIN_SECONDS = 0.05  # a pause of the machine
LOW_BANK = 2.0  # seconds; with less in the bank a move uses half of its time at most


def now() -> float:
    """The time in seconds, on the clock that deadlines are given in."""
    return time.perf_counter()


def move_seconds(act_timeout: float, bank: float) -> float:
    """Seconds to plan for a move: less than `act_timeout`, and at least 0.

    `bank` is `remainingOverageTime` in seconds; it may be negative, which shortens the move.
    """
    limit = max(0.0, act_timeout + min(0.0, bank))
    if bank < LOW_BANK:
        return limit / 2
    return max(limit / 2, limit - max(MARGIN_SECONDS, MARGIN_SHARE * limit))


def move_deadline(obs: Any, config: Any, start: float) -> float:
    """The time, as `now()` tells it, by which a move has to be chosen.

    `start` is `now()` at the beginning of the agent's call. The deadline may be `start` itself, where
    there is no time at all: the agent still has to answer.
    """
    return start + move_seconds(config.actTimeout, obs.remainingOverageTime)
