import random

import pytest

from agents.random_legal import agent
from engine.board import Board
from tests.agents.observations import configure, observe


@pytest.mark.parametrize(
    ("moves", "size"),
    [("", (6, 7, 4)), ("121212", (6, 7, 4)), ([0] * 6 + [6] * 6, (6, 7, 5)), ([2, 0], (1, 4, 3))],
    ids=str,
)
def test_all_legal_columns_come_up_about_as_often_and_no_others(
    moves: object, size: tuple[int, int, int]
) -> None:
    random.seed(1)
    board = Board.from_moves(moves, *size)
    legal = board.legal_moves()
    drawn = [agent(observe(board), configure(board)) for _ in range(100 * len(legal))]
    assert set(drawn) == set(legal)
    assert all(60 < drawn.count(column) < 140 for column in legal)


def test_the_only_column_left_is_played() -> None:
    board = Board.from_moves([0, 1, 3], 1, 4)
    assert agent(observe(board), configure(board)) == 2
