"""Tournaments in two processes, against the same in one; without the first quarter, in which they start."""

import os
import tempfile
from time import perf_counter

from evaluation import play_tournament

POOLS = ((("random_legal", "kaggle:random"), 12000), (("n_step:N_STEPS=2", "one_step"), 3000))


def games_per_second(agents: tuple[str, ...], games: int, jobs: int) -> float:
    times: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        play_tournament(
            agents, games=games, out=folder, jobs=jobs, on_game=lambda *_: times.append(perf_counter())
        )
    start = games // 4
    return (games - 1 - start) / (times[-1] - times[start])


def run() -> None:
    for agents, games in POOLS:
        one, two = (games_per_second(agents, games, jobs) for jobs in (1, 2))
        print(
            f"  {' against '.join(agents)}, {games} games: {one:.0f} games/s in 1 process, {two:.0f} in 2 "
            f"({two / one:.2f} times); load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"
        )
