"""Evaluating standard boards by windows, against a straightforward loop over the windows of a numpy grid."""

import random
from collections.abc import Callable, Sequence
from math import inf
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


def microseconds(evaluate: Callable[..., object], positions: Sequence[object], option: object) -> float:
    """Time of one position, from one go over all of them."""
    start = perf_counter()
    for position in positions:
        evaluate(position, 1, option)
    return (perf_counter() - start) / BOARDS * 1e6


def run() -> None:
    rng = random.Random(1)
    boards = [middle_game(rng) for _ in range(BOARDS)]
    grids = [np.reshape(board.to_flat(), (6, 7)) for board in boards]
    for name, weights in PRESETS.items():
        slow = fast = inf
        for _ in range(25):  # in turns, and the best of each: a busy machine disturbs both alike
            slow = min(slow, microseconds(HEURISTICS[name], grids, 4))
            fast = min(fast, microseconds(evaluate_windows, boards, weights))
        print(f"{name:16} {fast:5.2f} us a board, a loop {slow:4.0f} us: {slow / fast:4.0f} times as fast")
