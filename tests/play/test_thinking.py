"""What the analysis says is right where it says so."""

from __future__ import annotations

import itertools
import random

import pytest

from engine.board import Board
from play.thinking import Interrupted, Position, estimates


def score(board: Board) -> int:
    """Pons' score of a position by plain negamax; the game may be over."""
    cells = board.geometry.cells
    if board.winner:
        return -((cells + 2 - board.ply) // 2)
    return max((-score(board.play(column)) for column in board.legal_moves()), default=0)


def late_positions(rows: int, columns: int, inarow: int, empty: int, count: int) -> list[Board]:
    chance = random.Random(5)
    found: list[Board] = []
    while len(found) < count:
        board = Board(rows, columns, inarow)
        while board.ply < board.geometry.cells - empty and board.legal_moves():
            board = board.play(chance.choice(board.legal_moves()))
        if not board.is_over:
            found.append(board)
    return found


@pytest.mark.parametrize(("rows", "columns", "inarow"), [(4, 4, 3), (4, 5, 4), (3, 4, 3), (6, 7, 4)])
def test_what_is_called_exact_is_exact_at_every_depth(rows, columns, inarow):
    for board in late_positions(rows, columns, inarow, empty=7, count=8):
        right = {column: -score(board.play(column)) for column in board.legal_moves()}
        all_values = list(estimates(board, lambda: False))
        for values in all_values:
            assert set(values.scores) == set(right)
            for column in values.exact:
                assert values.scores[column] == right[column], (str(board), values)
        assert all_values[-1].all_exact
        highest = max(right.values())
        assert all_values[-1].best == {column for column, value in right.items() if value == highest}


def test_values_are_for_the_player_to_move():
    mine = next(estimates(Board.from_moves("112233"), lambda: False))
    assert mine.scores[3] == 18
    assert mine.best == {3}
    _, threatened, *_ = itertools.islice(estimates(Board.from_moves("717263"), lambda: False), 2)
    assert threatened.exact == {0, 1, 2, 4, 5, 6}  # each of them lets the other win in column 4
    assert {threatened.scores[column] for column in threatened.exact} == {-18}
    assert threatened.best == {3}


def test_the_analysis_stops_when_it_is_told_to():
    with pytest.raises(Interrupted):
        list(estimates(Board(), lambda: True))


def test_a_position_comes_back_as_the_same_board():
    board = Board.from_moves("4453", 7, 8, 5)
    assert Position.of(board, [3, 3, 4, 2]).board == board
