"""How late the native core sees a deadline and Ctrl-C, beside a loop that waits for nothing else.

And how long `n_step:N_STEPS=12` takes to load and to make its first move: less than 2 s is wanted.
"""

import signal
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from statistics import median
from time import perf_counter

from engine.board import Board
from engine.clock import now
from engine.native.search import NativeSearch, weighted_windows
from engine.native.solver import NativeSolver, OutOfTimeError
from engine.windows import ARTICLE
from evaluation.loading import load_agent
from tests.agents.observations import configure, observe

# The standard board, large ones, and those where a node of the solver takes longest.
SIZES = [(6, 7, 4), (8, 8, 4), (12, 9, 5), (7, 16, 16), (5, 21, 10), (3, 31, 8), (3, 32, 12), (3, 31, 16)]
TIMES = 30
SECONDS = 0.03
Work = Callable[[float], object]  # until a deadline


def run() -> None:
    print(f"Milliseconds after a deadline and after an interrupt, median and worst of {TIMES}; limit 10")
    print(f"{'':24}{'deadline':>16}{'interrupt':>16}")
    show("a loop", wait)
    for size in SIZES:
        board = Board(*size)
        solver = NativeSolver(*size)
        search = NativeSearch(*size, weighted_windows(ARTICLE, quiet=True))
        name = "x".join(map(str, size))
        show(f"{name} solver", partial(solve, solver, board))
        show(f"{name} search", partial(search.iterative_deepening, board))
    start = perf_counter()
    load_agent("n_step:N_STEPS=12")(observe(Board()), configure(Board()))
    print(f"n_step:N_STEPS=12, loading and first move: {perf_counter() - start:.2f} s")


def wait(deadline: float) -> None:
    while now() < deadline:
        pass


def solve(solver: NativeSolver, board: Board, deadline: float) -> None:
    """Not the whole of it, as nothing is remembered."""
    solver.forget()
    with suppress(OutOfTimeError):
        solver.score(board, deadline=deadline)


def show(name: str, work: Work) -> None:
    columns = [[by(work) for _ in range(TIMES)] for by in (after_deadline, after_interrupt)]
    print(f"{name:24}" + "".join(f"{median(late):8.1f}{max(late):8.1f}" for late in columns), flush=True)


def after_deadline(work: Work) -> float:
    deadline = now() + SECONDS
    work(deadline)
    return 1000 * max(0.0, now() - deadline)


def after_interrupt(work: Work) -> float:
    """With a timer of the system as the person who presses the keys."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    start = perf_counter()
    try:
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        work(now() + 10)
        signal.setitimer(signal.ITIMER_REAL, 0)  # it was finished before
        return 0.0
    except KeyboardInterrupt:
        return 1000 * (perf_counter() - start - SECONDS)
    finally:
        signal.signal(signal.SIGALRM, before)
