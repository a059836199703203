import random
import time
from itertools import count

import pytest

from agents import alpha_beta
from engine.board import Board
from engine.native.search import weighted_windows
from engine.search import minimax, winning_moves
from engine.windows import PRESETS, window_evaluation
from tests.agents.observations import configure, observe


def quiet_position(rng: random.Random, size: tuple[int, int, int]) -> Board:
    """A position of a random game in which the player to move cannot win at once."""
    while True:
        board = Board(*size)
        for _ in range(rng.randrange(board.geometry.cells)):
            if not board.is_over:
                board = board.play(rng.choice(board.legal_moves()))
        if not board.is_over and not winning_moves(board):
            return board


@pytest.mark.parametrize("native", [True, False], ids=["native", "readable"])
@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("size", [(6, 7, 4), (4, 5, 3), (5, 4, 5)], ids=str)
def test_the_best_columns_are_those_of_minimax(
    native: bool, name: str, size: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate = window_evaluation(PRESETS[name])
    monkeypatch.setattr(alpha_beta, "NATIVE", native)
    monkeypatch.setattr(alpha_beta, "EVALUATE", evaluate)
    monkeypatch.setattr(alpha_beta, "CORE_EVALUATE", weighted_windows(PRESETS[name]))
    rng = random.Random(f"{name} {size}")
    for depth in (1, 2, 3, 4):
        monkeypatch.setattr(alpha_beta, "DEPTH", depth)
        for _ in range(5):
            board = quiet_position(rng, size)
            assert alpha_beta.best_columns(board) == minimax(board, depth, evaluate).best_moves, f"\n{board}"


def test_a_win_is_taken_at_once() -> None:
    """X has a three with both ends open: to the heuristic alone, any move wins."""
    board = Board.from_moves("273746")
    assert minimax(board, 3, alpha_beta.EVALUATE).best_moves == (0, 1, 2, 3, 4, 5, 6)
    assert alpha_beta.best_columns(board) == (0, 4)


def test_stops_the_opponents_win() -> None:
    assert alpha_beta.best_columns(Board.from_moves("71727")) == (6,)


def test_sees_a_double_threat_coming() -> None:
    """X has two neighbours in the bottom row with both ends open: O has to close one of them."""
    assert set(alpha_beta.best_columns(Board.from_moves("334"))) <= {1, 4}


def test_draws_among_all_the_best_columns() -> None:
    random.seed(1)
    board = Board.from_moves("4434")
    best = alpha_beta.best_columns(board)
    assert best == (1, 4)
    assert {alpha_beta.agent(observe(board), configure(board)) for _ in range(20)} == set(best)


def test_the_deepest_finished_search_counts_where_the_depth_does_not_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(alpha_beta, "NATIVE", False)
    ticks = count()
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(ticks)))
    board = Board.from_moves("4434")
    # One look for each position valued: 7 at depth 1, at most 49 at depth 2, and more at depth 3.
    assert alpha_beta.best_columns(board, deadline=3) == (0, 1, 2, 3, 4, 5, 6)
    start = next(ticks)
    shallow = minimax(board, 1, alpha_beta.EVALUATE).best_moves
    assert alpha_beta.best_columns(board, deadline=start + 9) == shallow != (1, 4)
