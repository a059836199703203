"""Openings for matches: short, distinct and drawn by a seed, so that no two pairs of games start alike."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from engine.board import Board

PLIES = 4
"""Discs on the board after an opening: 568 positions on the standard board, mirror images counted once."""

MISSES = 100
"""Draws in a row without a new opening after which those of a length count as used up."""


def openings(
    configuration: Mapping[str, Any], count: int, seed: int = 0, plies: int = PLIES
) -> list[tuple[int, ...]]:
    """Up to `count` openings as 0-based columns: the empty board, then random positions.

    No two lead to the same position or its mirror image, and after none is the game over or can the
    player to move win at once (the empty board excepted). They have `plies` discs, or as near to that
    as the board and `episodeSteps` allow; where there are no more, fewer than `count` come back.
    `plies` of 0 gives the empty board alone. More of them from the same seed begin with the same ones.
    """
    empty = Board(configuration["rows"], configuration["columns"], configuration["inarow"])
    longest = min(empty.geometry.cells - 1, configuration["episodeSteps"] - 2) if plies else 0
    random = Random(f"openings {seed}")
    found: dict[tuple[int, int], tuple[int, ...]] = {_identity(empty): ()}
    for length in sorted(range(1, longest + 1), key=lambda length: (abs(length - plies), -length)):
        misses = 0
        while len(found) < count and misses < MISSES:
            board, opening = _random_game(empty, length, random)
            if _is_fair(board, length) and _identity(board) not in found:
                found[_identity(board)] = opening
                misses = 0
            else:
                misses += 1
    return list(found.values())


def _random_game(board: Board, plies: int, random: Random) -> tuple[Board, tuple[int, ...]]:
    """The board after `plies` random moves, or after fewer if the game ends before, and the moves."""
    moves: list[int] = []
    while len(moves) < plies and (legal := board.legal_moves()):
        moves.append(random.choice(legal))
        board = board.play(moves[-1])
    return board, tuple(moves)


def _is_fair(board: Board, plies: int) -> bool:
    """Whether a game of `plies` moves goes on, and not with a win on the very next one."""
    goes_on = board.ply == plies and not board.is_over
    return goes_on and not any(board.play(column).winner for column in board.legal_moves())


def _identity(board: Board) -> tuple[int, int]:
    """The same for a position and its mirror image, and for no other of as many discs."""
    mirror = board.mirror()
    return min((board.own, board.other), (mirror.own, mirror.other))
