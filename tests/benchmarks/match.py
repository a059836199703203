"""Matches in two processes, against the same match in one; starting the processes is included."""

from time import perf_counter

from evaluation import play_match

MATCHES = (("random_legal", "random_legal", 6000), ("n_step", "n_step", 100))


def games_per_second(one: str, two: str, games: int, jobs: int) -> float:
    start = perf_counter()
    play_match(one, two, games, jobs=jobs)
    return games / (perf_counter() - start)


def run() -> None:
    for one, two, games in MATCHES:
        alone, both = (games_per_second(one, two, games, jobs) for jobs in (1, 2))
        print(
            f"  {one} against {two}, {games} games: {alone:.0f} games/s with 1 job, {both:.0f} with 2 "
            f"({both / alone:.2f} times)"
        )
