"""What the analysis says is right where it says so."""

from __future__ import annotations

import itertools
import random

import pytest

from engine.board import Board
from engine.native.build import NativeError
from play import thinking
from play.thinking import Interrupted, Position, analyst, estimates


def score(board: Board) -> int:
    """Pons' score of a position by plain negamax; the game may be over."""
    cells = board.geometry.cells
    if board.winner:
        return -((cells + 2 - board.ply) // 2)
    return max((-score(board.play(column)) for column in board.legal_moves()), default=0)


def late_positions(rows: int, columns: int, inarow: int, empty: int, count: int) -> list[Position]:
    """Random positions with so many empty cells, whose games go on."""
    chance = random.Random(5)
    found: list[Position] = []
    while len(found) < count:
        board, moves = Board(rows, columns, inarow), []
        while board.ply < board.geometry.cells - empty and board.legal_moves():
            moves.append(chance.choice(board.legal_moves()))
            board = board.play(moves[-1])
        if not board.is_over:
            found.append(Position.of(board, moves))
    return found


@pytest.mark.parametrize(("rows", "columns", "inarow"), [(4, 4, 3), (4, 5, 4), (3, 4, 3), (6, 7, 4)])
def test_what_is_called_exact_is_exact_at_every_depth(rows, columns, inarow):
    for position in late_positions(rows, columns, inarow, empty=7, count=8):
        board = position.board
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


class Quiet:
    """A connection on which nothing comes."""

    def poll(self) -> bool:
        return False


@pytest.mark.parametrize("size", [(4, 4, 3), (6, 7, 4), (8, 8, 5), (9, 14, 8)])
def test_the_analysis_ends_in_exact_values(size):
    position = late_positions(*size, empty=6, count=1)[0]
    right = {column: -score(position.board.play(column)) for column in position.board.legal_moves()}
    *_, last = analyst(Quiet(), "")(position)
    assert last.all_exact
    assert last.scores == right


def test_without_a_native_core_the_analysis_estimates_and_says_so(monkeypatch, capfd):
    def missing(*size: int) -> None:
        raise NativeError("no compiler")

    monkeypatch.setattr(thinking, "NativeSolver", missing)
    found = list(analyst(Quiet(), "")(late_positions(6, 7, 4, empty=5, count=1)[0]))
    assert [values.depth for values in found] == list(range(1, len(found) + 1))
    assert capfd.readouterr().err == "warning: the analysis has to estimate: no compiler\n"


def test_a_position_comes_back_as_the_same_board():
    board = Board.from_moves("4453", 7, 8, 5)
    assert Position.of(board, [3, 3, 4, 2]).board == board
