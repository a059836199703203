"""Evaluating standard boards by windows, against a straightforward loop over the windows of a numpy grid."""

import random
from collections.abc import Callable
from time import perf_counter

import numpy as np

from engine.board import Board
from engine.windows import PRESETS, evaluate_windows
from tests.engine.straightforward_windows import HEURISTICS

BOARDS = 40


def middle_game(rng: random.Random) -> Board:
    """A random position of 8 to 24 discs that nobody has won."""
    while True:
        board, discs = Board(), rng.randint(8, 24)
        while board.ply < discs and not board.is_over:
            board = board.play(rng.choice(board.legal_moves()))
        if not board.is_over:
            return board


def microseconds(work: Callable[[], object], repeats: int) -> float:
    """Time of one evaluation, the best of several goes so that a busy machine disturbs less."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times) / BOARDS * 1e6


def run() -> None:
    rng = random.Random(1)
    boards = [middle_game(rng) for _ in range(BOARDS)]
    grids = [np.reshape(board.to_flat(), (6, 7)) for board in boards]
    for name, weights in PRESETS.items():
        reference = HEURISTICS[name]
        slow = microseconds(lambda reference=reference: [reference(grid, 1, 4) for grid in grids], 3)
        fast = microseconds(lambda weights=weights: [evaluate_windows(b, 1, weights) for b in boards], 200)
        print(f"{name:16} {fast:5.2f} us a board, a loop {slow:4.0f} us: {slow / fast:4.0f} times as fast")
