"""Exact play: the fastest win, else a draw, else the longest resistance, wherever a position can be solved.

On the standard board the opening book knows the first plies, and a best column of later positions that take
long; the native core solves all others in milliseconds. Of equally good columns the one is played after which
most of the opponent's replies are mistakes, as far as a fiftieth of a second shows; where the book lists a
column, that one, which was chosen without haste where the agent's own games lead. A position not solved in
time, on a larger board or without the core, is played by iterative deepening with windows, as far as the time
allows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, lru_cache
from threading import get_ident
from typing import Any

from engine.board import Board
from engine.clock import move_deadline, now
from engine.native.build import NativeError
from engine.native.search import NativeSearch, weighted_windows
from engine.oracle import Oracle, from_the_middle
from engine.search import SearchResult, forced_moves, iterative_deepening
from engine.solver import OutOfTimeError
from engine.windows import preset

TABLE_MEGABYTES = 16
EXACT_SHARE = 0.75  # of a move's time; the rest is for the search, should the position not be solved
LEISURE_SECONDS = 0.02  # to choose among equally good columns
WEAKER = "perfect is weaker than it could be"

EVALUATION = weighted_windows(preset("article"), quiet=True)


@lru_cache(maxsize=4)
def oracle(rows: int, columns: int, inarow: int, _thread: int) -> Oracle:
    """The one of a thread that knows a size of board, and remembers the positions of earlier moves."""
    found = Oracle(rows, columns, inarow, TABLE_MEGABYTES)
    if found.lacks:
        say_once(f"{WEAKER}: {found.lacks}")
    return found


@cache
def say_once(message: str) -> None:
    """Prints a line on stderr, but no line twice."""
    print(message, file=sys.stderr)


@lru_cache(maxsize=4)
def searcher(rows: int, columns: int, inarow: int, _thread: int) -> Callable[[Board, float], SearchResult]:
    """Iterative deepening until a deadline, by the native core where it can be had."""
    try:
        return NativeSearch(rows, columns, inarow, EVALUATION, TABLE_MEGABYTES).iterative_deepening
    except (NativeError, ValueError):
        return lambda board, deadline: iterative_deepening(board, EVALUATION.readable, deadline)


def choose(board: Board, deadline: float) -> int:
    """The column to play."""
    if forced := forced_moves(board):
        return forced[0]
    shape, start = board.geometry, now()
    own = shape.rows, shape.columns, shape.inarow, get_ident()  # two threads share neither table nor stack
    exact = oracle(*own)
    solved_by = start + EXACT_SHARE * (deadline - start)
    try:
        return exact.best_column(board, deadline=solved_by, leisure=min(start + LEISURE_SECONDS, solved_by))
    except OutOfTimeError:
        result = searcher(*own)(board, deadline)
        return next(column for column in from_the_middle(board) if column in result.best_moves)


def agent(obs: Any, config: Any) -> int:
    """The column with the best score."""
    deadline = move_deadline(obs, config, now())
    return choose(Board.from_kaggle(obs, config), deadline)
