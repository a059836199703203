"""Exact play: the fastest win, else a draw, else the longest resistance, wherever a position can be solved.

The native core solves the standard board in milliseconds. Of equally good columns the one is played after
which most of the opponent's replies are mistakes. A position that is not solved in time, on a larger board or
without the core, is played by iterative deepening with windows, as far as the time allows.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from engine.board import Board
from engine.clock import move_deadline, now
from engine.native.build import NativeError
from engine.native.solver import NativeSolver, Table, fits
from engine.search import forced_moves, iterative_deepening, quiescence
from engine.solver import ExactSolver, OutOfTimeError
from engine.windows import preset, window_evaluation

TABLE_MEGABYTES = 16
EXACT_SHARE = 0.5  # of a move's time; the rest is for the search, should the position not be solved
TRAP_SECONDS = 0.02  # to choose among equally good columns
NO_CORE = "perfect has no native core and is weaker"

EVALUATE = quiescence(window_evaluation(preset("article")))


@cache
def has_core() -> bool:
    """Whether the native core is there; says so once if not."""
    try:
        NativeSolver(1, 1, 1, Table(1))
    except NativeError as error:
        print(f"{NO_CORE}: {error}", file=sys.stderr)
        return False
    return True


@lru_cache(maxsize=2)
def solver(rows: int, columns: int, inarow: int) -> NativeSolver | ExactSolver:
    """The solver for a size of board, which remembers the positions of earlier moves."""
    if has_core() and fits(Board(rows, columns, inarow)):
        return NativeSolver(rows, columns, inarow, Table(TABLE_MEGABYTES))
    return ExactSolver(rows, columns, inarow)


def choose(board: Board, deadline: float) -> int:
    """The column to play."""
    shape = board.geometry
    middle = (shape.columns - 1) / 2
    columns = sorted(board.legal_moves(), key=lambda column: abs(column - middle))
    if forced := forced_moves(board):
        return forced[0]
    start = now()
    exact = solver(shape.rows, shape.columns, shape.inarow)
    try:
        score, best = exact.best_columns(board, deadline=start + EXACT_SHARE * (deadline - start))
    except OutOfTimeError:
        return search(board, columns, deadline)
    columns = [column for column in columns if column in best]
    if score > 0 or len(columns) == 1:
        return columns[0]
    return best_trap(exact, board, columns, min(deadline, now() + TRAP_SECONDS))


def search(board: Board, columns: list[int], deadline: float) -> int:
    """The column of the deepest search that fits."""
    result = iterative_deepening(board, EVALUATE, deadline)
    return next(column for column in columns if column in result.best_moves)


def best_trap(
    exact: NativeSolver | ExactSolver, board: Board, columns: Sequence[int], deadline: float
) -> int:
    """The first column after which most replies are mistakes, of those looked at before the deadline."""
    best, most = columns[0], -1
    for column in columns:
        try:
            found = mistakes(exact, board.play(column), deadline)
        except OutOfTimeError:
            break
        if found > most:
            best, most = column, found
    return best


def mistakes(exact: NativeSolver | ExactSolver, board: Board, deadline: float) -> int:
    """How many of the legal moves change a win into less, or a draw into a loss. Raises `OutOfTimeError`."""
    outcomes = [outcome(exact, board.play(column), deadline) for column in board.legal_moves()]
    return sum(result > min(outcomes) for result in outcomes)


def outcome(exact: NativeSolver | ExactSolver, board: Board, deadline: float) -> int:
    """1, 0, -1 for a win, draw, loss of the player to move."""
    if board.winner:
        return -1
    score = exact.score(board, deadline=deadline)
    return (score > 0) - (score < 0)


def agent(obs: Any, config: Any) -> int:
    """The column with the best score."""
    deadline = move_deadline(obs, config, now())
    return choose(Board.from_kaggle(obs, config), deadline)
