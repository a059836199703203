"""Matches: two agents, many games, seats swapped in pairs from the same opening."""

from __future__ import annotations

import pickle
import random
import signal
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from evaluation import kaggle
from evaluation.errors import InputError
from evaluation.loading import Agent, agent_name, load_agent
from evaluation.openings import PLIES, openings
from evaluation.records import Ending, GameRecord
from evaluation.referee import complete, play_game
from evaluation.result import MatchResult

Games = Generator[tuple[int, GameRecord]]
REFEREES = {"fast": play_game, "kaggle": kaggle.play_game}


class MatchInterrupted(KeyboardInterrupt):
    """Ctrl-C during a match. `result` holds the games that were over by then, perhaps none."""

    def __init__(self, result: MatchResult) -> None:
        super().__init__(f"interrupted after {len(result.records)} games")
        self.result = result


class WorkerError(InputError):
    """A process that played games has ended, or could not start."""


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
        on_game: called with each game's number and record, as games end; the numbers come in no
            fixed order with more than one job.

    Raises:
        InputError: for what cannot be played, `SpecError` and `WorkerError` among them.
        MatchInterrupted: on Ctrl-C; it carries the result so far.
    """
    for name, value, least in (("games", games, 1), ("jobs", jobs, 1), ("opening_plies", opening_plies, 0)):
        if value < least:
            raise InputError(f"{name} must be at least {least}, not {value}")
    if referee not in REFEREES:
        raise InputError(f"there is no referee {referee!r}: choose fast or kaggle")
    plan = _Plan((agent1, agent2), seed, referee, complete(configuration))
    starts = openings(plan.settings, (games + 1) // 2, seed, opening_plies)
    tasks = [(number, starts[number // 2 % len(starts)]) for number in range(games)]
    records: dict[int, GameRecord] = {}

    def result() -> MatchResult:
        names = agent_name(agent1), agent_name(agent2)
        return MatchResult(names, seed, referee, plan.settings, dict(sorted(records.items())))

    try:
        with _generators_kept():
            for spec in plan.agents:
                load_agent(spec)  # what cannot be loaded is found before a game is played
            with closing(_in_processes(plan, tasks, jobs) if jobs > 1 else plan.play(tasks)) as played:
                for number, record in played:
                    # One dictionary for all, and without the steps that Kaggle's referee leaves with it.
                    records[number] = replace(record, configuration=plan.settings)
                    if on_game:
                        on_game(number, record)
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
    return int.from_bytes(blake2b(f"{seed} {number}".encode(), digest_size=8).digest())


@dataclass(frozen=True)
class _Plan:
    """What all games of a match share."""

    agents: tuple[str | Agent, str | Agent]
    seed: int
    referee: str
    settings: dict[str, Any]

    def play(self, tasks: Sequence[tuple[int, tuple[int, ...]]]) -> Games:
        """Plays games given by number and opening."""
        for number, opening in tasks:
            seed = game_seed(self.seed, number)
            random.seed(seed)
            np.random.seed(seed % 2**32)
            one, two = map(load_agent, self.agents)
            seats = (two, one) if number % 2 else (one, two)
            yield number, REFEREES[self.referee](seats, self.settings, opening)

    def play_all(self, tasks: Sequence[tuple[int, tuple[int, ...]]]) -> list[tuple[int, GameRecord]]:
        """`play`, all at once: what a worker is asked for."""
        return list(self.play(tasks))


@contextmanager
def _generators_kept() -> Iterator[None]:
    """Puts the global random generators back to where they were."""
    states = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])


def _in_processes(plan: _Plan, tasks: Sequence[tuple[int, tuple[int, ...]]], jobs: int) -> Games:
    """Plays the games in `jobs` processes, pair by pair or in small groups of pairs; yields them as they end.

    Processes are started afresh (spawn): a fork of a process with threads, such as a notebook's, may hang.
    """
    for agent in plan.agents:
        _check_shippable(agent)
    size = 2 * min(16, 1 + len(tasks) // (200 * jobs))
    groups = [tasks[start : start + size] for start in range(0, len(tasks), size)]
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), _ignore_ctrl_c)
    try:
        with _ctrl_c_held_back():
            futures = [pool.submit(plan.play_all, group) for group in groups]
        for future in as_completed(futures):
            yield from future.result()
    except BrokenProcessPool:
        raise WorkerError(
            "a process that played games has ended: an agent crashed it, memory ran out, or a script calls "
            'this without the guard if __name__ == "__main__": try jobs=1'
        ) from None
    finally:
        # At once, games under way included; from Python 3.14 on there is a method for it.
        for worker in list(pool._processes.values()):
            worker.terminate()
        pool.shutdown(cancel_futures=True)


@contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """Ctrl-C comes after the block; to processes started in it never, so they do not fail half started."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ignore_ctrl_c() -> None:
    """For workers: it is the parent that ends them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _check_shippable(agent: str | Agent) -> None:
    """Raises `InputError` for a callable that another process could not find again by its name."""
    if isinstance(agent, str):
        return
    try:
        shippable = b"__main__" not in pickle.dumps(agent) or _has_main_file()
    except (pickle.PicklingError, AttributeError, TypeError):
        shippable = False
    if not shippable:
        raise InputError(
            f"{agent_name(agent)} cannot be sent to other processes: put it into a file and name that "
            '("my_agent.py"), or play with jobs=1'
        )


def _has_main_file() -> bool:
    """Whether other processes can run `__main__` again: not that of a notebook or of standard input."""
    return Path(getattr(sys.modules["__main__"], "__file__", "")).is_file()
