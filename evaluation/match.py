"""Matches: two agents, many games, seats swapped in pairs from the same opening."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from evaluation import console
from evaluation.errors import InputError
from evaluation.loading import Agent, agent_name
from evaluation.openings import PLIES, openings
from evaluation.records import Ending, GameRecord
from evaluation.referee import complete
from evaluation.result import MatchResult
from evaluation.workers import (
    REFEREES,
    Player,
    Task,
    WorkerError,
    check_agents,
    check_numbers,
    generators_kept,
    isolation_told,
    play_all,
    seed_of,
    workers,
)

__all__ = ["MatchInterrupted", "WorkerError", "game_seed", "get_win_percentages", "play_match"]


class MatchInterrupted(KeyboardInterrupt):
    """Ctrl-C during a match. `result` holds the games that were over by then, perhaps none."""

    def __init__(self, result: MatchResult) -> None:
        super().__init__(f"interrupted after {len(result.records)} games")
        self.result = result


def play_match(
    agent1: str | Agent,
    agent2: str | Agent,
    games: int = 100,
    *,
    seed: int = 0,
    referee: str = "fast",
    jobs: int = 1,
    configuration: Mapping[str, Any] | None = None,
    opening_plies: int = PLIES,
    trusted: bool = False,
    on_game: Callable[[int, GameRecord], None] | None = None,
) -> MatchResult:
    """Plays `games` games, `agent1` moving first in every other one. Every count is `agent1`'s.

    Each pair of games starts from an opening of its own, the first pair from the empty board (see
    `evaluation.openings`; `opening_plies=0` plays all from the empty board). Agents given by a spec are
    loaded anew for every game; callables keep their state.

    Games follow from `seed` alone, whatever `jobs` is: `random` and numpy's global generator are seeded
    for every game by its number, and put back afterwards. What else differs from run to run differs
    here, too: clocks, and generators that agents make for themselves without a seed.

    Args:
        referee: "fast", in this process, or "kaggle", the official environment.
        jobs: how many processes play. In a script that needs the guard `if __name__ == "__main__":`.
        configuration: settings that differ from Kaggle's, such as `{"rows": 7}`.
        trusted: run agents given as files in this process; otherwise each is isolated in one of its own
            (see `evaluation.isolation`), for every game, with random generators of its own.
        on_game: called with each game's number and record, as games end; the numbers come in no
            fixed order with more than one job.

    Raises:
        InputError: for what cannot be played, `SpecError` and `WorkerError` among them.
        MatchInterrupted: on Ctrl-C; it carries the result so far.
    """
    check_numbers(games=(games, 1), jobs=(jobs, 1), opening_plies=(opening_plies, 0))
    if referee not in REFEREES:
        raise InputError(f"there is no referee {referee!r}: choose fast or kaggle")
    seats = (agent1, agent2), (agent2, agent1)
    settings = complete(configuration)
    starts = openings(settings, (games + 1) // 2, seed, opening_plies)
    tasks = (
        Task(number, seats[number % 2], game_seed(seed, number), opening)
        for number in range(games)
        for opening in [starts[number // 2 % len(starts)]]
    )
    records: dict[int, GameRecord] = {}

    def result() -> MatchResult:
        names = agent_name(agent1), agent_name(agent2)
        return MatchResult(names, seed, referee, settings, dict(sorted(records.items())))

    try:
        with generators_kept():
            check_agents(seats[0], jobs)
            isolation_told(seats[0], trusted, console.messages.print)
            with workers(jobs) as place:
                for task, outcome in play_all(Player(referee, settings, trusted), tasks, place):
                    if isinstance(outcome, InputError):
                        raise outcome
                    # One dictionary for all, and without the steps that Kaggle's referee leaves with it.
                    records[task.key] = replace(outcome, configuration=settings)
                    if on_game:
                        on_game(task.key, records[task.key])
    except KeyboardInterrupt:
        raise MatchInterrupted(result()) from None
    return result()


def get_win_percentages(agent1: str | Agent, agent2: str | Agent, n_rounds: int = 100) -> MatchResult:
    """Prints how often each agent won and how many invalid plays it made, as in Kaggle's lessons.

    Half the `n_rounds` games each way, all from the empty board. Other than there, a forfeit is a win
    for the opponent; an exception or a timeout is no invalid play, and gets a line of its own if there
    are any. Returns the match.
    """
    result = play_match(agent1, agent2, n_rounds, opening_plies=0)
    for number, wins in enumerate((result.wins, result.losses), 1):
        print(f"Agent {number} Win Percentage:", np.round(wins / n_rounds, 2))
    for number, forfeits in enumerate(result.forfeits, 1):
        print(f"Number of Invalid Plays by Agent {number}:", forfeits[Ending.INVALID])
    for number, forfeits in enumerate(result.forfeits, 1):
        if failures := forfeits.total() - forfeits[Ending.INVALID]:
            print(f"Number of Errors and Timeouts by Agent {number}:", failures)
    return _Printed(**vars(result))


class _Printed(MatchResult):
    """A result that a notebook does not show again below the printed lines."""

    def _ipython_display_(self) -> None:
        pass


def game_seed(seed: int, number: int) -> int:
    """The seed (64 bits) of game `number` of a match; the same on every machine."""
    return seed_of(seed, number)
