"""Games per second of the fast referee and of kaggle_environments.evaluate, random against random."""

import random
from statistics import median
from time import perf_counter

from kaggle_environments import evaluate

from evaluation.kaggle import builtin_agent
from evaluation.referee import play_game

ROUNDS = 5
FAST_GAMES, OFFICIAL_GAMES = 1000, 20


def run() -> None:
    agent = builtin_agent("random")
    random.seed(1)
    evaluate("connectx", ["random", "random"])  # the first run pays for imports
    fast, official = [], []
    for _ in range(ROUNDS):  # in turns: a busy machine disturbs both alike
        start = perf_counter()
        for _ in range(FAST_GAMES):
            play_game([agent, agent])
        fast.append(FAST_GAMES / (perf_counter() - start))
        start = perf_counter()
        evaluate("connectx", ["random", "random"], num_episodes=OFFICIAL_GAMES)
        official.append(OFFICIAL_GAMES / (perf_counter() - start))
    ratio = median(fast) / median(official)
    print(
        f"{median(fast):.0f} games/s, kaggle_environments {median(official):.1f}: {ratio:.0f} times as fast"
    )
