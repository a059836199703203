import random

import numpy as np
import pytest

from agents import one_step
from engine.board import Board
from tests.agents.observations import configure, observe
from tests.engine.straightforward_windows import lesson_one_step


def drop_piece(grid: np.ndarray, column: int, mark: int) -> np.ndarray:
    after = grid.copy()
    row = max(row for row in range(len(grid)) if grid[row, column] == 0)
    after[row, column] = mark
    return after


def lesson_columns(obs: object, config: object) -> list[int]:
    """The lesson's agent up to its draw: all columns of highest score."""
    grid = np.reshape(obs.board, (config.rows, config.columns))
    scores = {
        column: lesson_one_step(drop_piece(grid, column, obs.mark), obs.mark, config.inarow)
        for column in range(config.columns)
        if obs.board[column] == 0
    }
    return [column for column in scores if scores[column] == max(scores.values())]


@pytest.mark.parametrize("size", [(6, 7, 4), (4, 5, 3), (5, 8, 5), (3, 3, 1), (4, 4, 2), (3, 4, 6)], ids=str)
def test_the_best_columns_are_the_lessons(size: tuple[int, int, int]) -> None:
    rng = random.Random(repr(size))
    for _ in range(60):
        board, discs = Board(*size), rng.randrange(size[0] * size[1])
        while board.ply < discs and not (after := board.play(rng.choice(board.legal_moves()))).is_over:
            board = after
        expected = lesson_columns(observe(board), configure(board))
        assert one_step.best_columns(board) == expected, f"\n{board}"
        assert one_step.agent(observe(board), configure(board)) in expected


def test_every_best_column_is_drawn() -> None:
    random.seed(1)
    board = Board()
    assert {one_step.agent(observe(board), configure(board)) for _ in range(200)} == set(range(7))


def test_wins_where_it_can() -> None:
    assert one_step.best_columns(Board.from_moves("112233")) == [3]


def test_stops_a_three_but_does_not_see_one_coming() -> None:
    assert one_step.best_columns(Board.from_moves("71727")) == [6]
    assert one_step.best_columns(Board.from_moves("445")) == list(range(7))
