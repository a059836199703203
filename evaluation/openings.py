"""Openings for games in pairs: short, distinct and drawn by a seed, so that no two pairs start alike.

Matches begin with random ones. Tournaments begin with balanced ones where those can be had: drawn with best
play on both sides, or as near to it as can be. What those of the standard board are was computed once with
the exact solver; `drawn.txt` holds all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from heapq import heappop, heappush
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from engine.board import Board, parse_moves
from engine.native.build import NativeError
from engine.native.solver import NativeSolver

PLIES = 4
"""Discs on the board after an opening: 568 positions on the standard board, mirror images counted once."""

BALANCED_PLIES = 8
"""The same for balanced openings: 7,344 of the 77,715 positions without a win at hand are drawn."""

DRAWN = Path(__file__).with_name("drawn.txt")
"""Those, as columns from 1, a line each; sorted."""

SOLVABLE, SOLVABLE_LONG = 34, 20
"""Empty cells with which the solver needs 40 ms a position on the standard board, and with an inarow of 5."""

CANDIDATES = 12
"""How many positions are solved for each opening on average at most; one in ten is drawn."""

MISSES = 100
"""Draws in a row without a new opening after which those of a length count as used up."""


class Opening(NamedTuple):
    """Columns from 0, and how far the position after them is from a draw.

    `imbalance` is the exact score without its sign: 0 for a draw; None where it is not known.
    """

    moves: tuple[int, ...]
    imbalance: int | None


def openings(
    configuration: Mapping[str, Any], count: int, seed: int = 0, plies: int = PLIES
) -> list[tuple[int, ...]]:
    """Up to `count` openings as 0-based columns: the empty board, then random positions.

    No two lead to the same position or its mirror image, and after none is the game over or can the
    player to move win at once (the empty board excepted). They have `plies` discs, or as near to that
    as the board and `episodeSteps` allow; where there are no more, fewer than `count` come back.
    `plies` of 0 gives the empty board alone. More of them from the same seed begin with the same ones.
    """
    empty = _empty(configuration)
    rest = _random_openings(
        configuration, Random(f"openings {seed}"), plies, seen={_identity(empty)}, is_fair=_goes_on
    )
    return [(), *islice(rest, count - 1)]


def balance(configuration: Mapping[str, Any], plies: int) -> str:
    """Of which kind the openings of `tournament_openings` are, and why: "balanced" or "random (...)"."""
    if not plies:
        return "the empty board"
    reason = "" if _are_known(configuration, plies) else _obstacle(configuration, plies)
    return f"random ({reason})" if reason else "balanced"


def _obstacle(configuration: Mapping[str, Any], plies: int) -> str:
    """Why the exact solver cannot find balanced openings, if so."""
    cells = _empty(configuration).geometry.cells
    solvable = SOLVABLE if configuration["inarow"] <= 4 else SOLVABLE_LONG
    if cells - plies > solvable:
        return f"the exact solver takes too long with more than {solvable} cells empty"
    if configuration["episodeSteps"] <= cells:
        return "episodeSteps ends games early"
    try:
        _solver(configuration)
    except (NativeError, ValueError) as error:
        return f"no exact solver: {error}"
    return ""


def _solver(configuration: Mapping[str, Any]) -> NativeSolver:
    return NativeSolver(configuration["rows"], configuration["columns"], configuration["inarow"])


def tournament_openings(configuration: Mapping[str, Any], seed: int, plies: int) -> Iterator[Opening]:
    """Openings without end, distinct as those of `openings` as long as the board has more.

    After none can a side force a win with two moves. Where `balance` says so they are balanced: drawn, or
    nearest to a draw of those that were solved so far. Then random ones follow. Those of a board that is
    not the standard one are solved as they are asked for.
    """
    empty = _empty(configuration)
    while True:  # once more from the start when the board has no more
        random = Random(f"tournament {seed}")
        seen: set[int] = set()
        if balance(configuration, plies) == "balanced":
            known = _are_known(configuration, plies)
            for opening in _drawn(random) if known else _solved(configuration, random, plies):
                seen.add(_identity(_after(empty, opening.moves)))
                yield opening
        found = len(seen)
        for moves in _random_openings(configuration, random, plies, seen=seen, is_fair=_is_quiet):
            found += 1
            yield Opening(moves, None)
        if not found:
            yield Opening((), None)


def _are_known(configuration: Mapping[str, Any], plies: int) -> bool:
    settings = [configuration[name] for name in ("rows", "columns", "inarow")]
    return (settings, plies) == ([6, 7, 4], BALANCED_PLIES) and configuration["episodeSteps"] > 42


def _drawn(random: Random) -> list[Opening]:
    """All of `drawn.txt`, shuffled."""
    lines = DRAWN.read_text(encoding="ascii").split()
    random.shuffle(lines)
    return [Opening(tuple(parse_moves(line)), 0) for line in lines]


def _solved(configuration: Mapping[str, Any], random: Random, plies: int) -> Iterator[Opening]:
    """All openings of that length, each the most balanced of those solved by then; drawn ones at once."""
    empty = _empty(configuration)
    solver = _solver(configuration)
    candidates = _random_openings(configuration, random, plies, seen=set(), is_fair=_is_quiet, longer=False)
    waiting: list[tuple[int, tuple[int, ...]]] = []  # a heap: the imbalance, the opening
    allowed = 0
    while True:
        allowed += CANDIDATES
        for moves in islice(candidates, allowed):
            allowed -= 1
            heappush(waiting, (abs(solver.score(_after(empty, moves))), moves))
            if waiting[0][0] == 0:
                break
        if not waiting:
            return
        imbalance, moves = heappop(waiting)
        yield Opening(moves, imbalance)


def _random_openings(
    configuration: Mapping[str, Any],
    random: Random,
    plies: int,
    *,
    seen: set[int],
    is_fair: Callable[[Board], bool],
    longer: bool = True,
) -> Iterator[tuple[int, ...]]:
    """Random openings of `plies` discs that lead to no position of `seen`, which they are added to.

    With `longer`, those of other lengths follow, as near to `plies` as can be.
    """
    empty = _empty(configuration)
    longest = min(empty.geometry.cells - 1, configuration["episodeSteps"] - 2) if plies else 0
    lengths = sorted(range(1, longest + 1), key=lambda length: (abs(length - plies), -length))
    for length in lengths if longer else lengths[:1]:
        misses = 0
        while misses < MISSES:
            board, opening = _random_game(empty, length, random)
            misses += 1
            if board.ply == length and _identity(board) not in seen and is_fair(board):
                seen.add(_identity(board))
                misses = 0
                yield opening


def _empty(configuration: Mapping[str, Any]) -> Board:
    return Board(configuration["rows"], configuration["columns"], configuration["inarow"])


def _after(board: Board, moves: tuple[int, ...]) -> Board:
    for move in moves:
        board = board.play(move)
    return board


def _random_game(board: Board, plies: int, random: Random) -> tuple[Board, tuple[int, ...]]:
    """The board after `plies` random moves, or after fewer if the game ends before, and the moves."""
    moves: list[int] = []
    while len(moves) < plies and (legal := board.legal_moves()):
        moves.append(random.choice(legal))
        board = board.play(moves[-1])
    return board, tuple(moves)


def _goes_on(board: Board) -> bool:
    """Whether the game is not over, and not with the very next move."""
    return not board.is_over and not _wins(board, 1)


def _is_quiet(board: Board) -> bool:
    """Whether the game goes on and nobody can force a win with two moves, against any of the other's."""
    if board.is_over or _wins(board, 2):
        return False
    return not all(_wins(board.play(column), 2) for column in board.legal_moves())


def _wins(board: Board, moves: int) -> bool:
    """Whether the player to move can force a win within so many own moves."""
    after = [board.play(column) for column in board.legal_moves()]
    if any(position.winner for position in after):
        return True
    return moves > 1 and any(
        all(
            not reply.is_over and _wins(reply, moves - 1)
            for reply in map(position.play, position.legal_moves())
        )
        for position in after
        if not position.is_over
    )


def _identity(board: Board) -> int:
    """The same for a position and its mirror image, and for no other of as many discs: a hash, for space."""
    mirror = board.mirror()
    return hash(min((board.own, board.other), (mirror.own, mirror.other)))
