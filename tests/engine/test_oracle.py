"""Exact play by book and solvers: every choice is a best column, and the one that is hardest to meet."""

import random
from math import inf

import pytest

from engine.board import Board
from engine.clock import now
from engine.native.solver import NativeSolver
from engine.oracle import Oracle, from_the_middle
from engine.solver import OutOfTimeError


@pytest.fixture(scope="module")
def oracle() -> Oracle:
    return Oracle(6, 7, 4, 16)


def random_board(plies: int, rng: random.Random, size: tuple[int, int, int] = (6, 7, 4)) -> Board:
    while True:
        board = Board(*size)
        while board.ply < plies and not board.is_over:
            board = board.play(rng.choice(board.legal_moves()))
        if not board.is_over:
            return board


def best_columns(board: Board, solver: NativeSolver) -> list[int]:
    return solver.best_columns(board)[1]


def mistakes(board: Board, solver: NativeSolver) -> tuple[int, int]:
    """Counted from all scores: replies that give away the result, and replies that are not best."""
    if board.is_over:
        return 0, 0
    scores = [score for score in solver.column_scores(board) if score is not None]
    best = max(scores, default=0)
    outcomes = [(score > 0) - (score < 0) for score in scores]
    return sum(outcome < max(outcomes) for outcome in outcomes), sum(score < best for score in scores)


def test_scores_of_the_book_and_past_it(oracle: Oracle) -> None:
    solver, rng = NativeSolver(), random.Random(1)
    for plies in (6, 7, 8, 9, 10, 11, 12, 13, 20, 30):
        board = random_board(plies, rng)
        assert oracle.score(board) == solver.score(board)


def test_the_choice_is_a_best_column_in_and_past_the_book(oracle: Oracle) -> None:
    solver, rng = NativeSolver(), random.Random(2)
    for plies in [*range(4, 42)] * 3:
        board = random_board(plies, rng)
        assert oracle.best_column(board) in best_columns(board, solver), f"\n{board}"


@pytest.mark.parametrize("plies", [14, 20, 26])
def test_of_best_columns_the_one_with_most_mistakes_after_it(oracle: Oracle, plies: int) -> None:
    solver, rng = NativeSolver(), random.Random(plies)
    for _ in range(15):
        board = random_board(plies, rng)
        best = best_columns(board, solver)
        found = {
            column: mistakes(board.play(column), solver)
            for column in from_the_middle(board)
            if column in best
        }
        if oracle.book is None or oracle.book.column(board) is None:
            assert oracle.best_column(board) == max(found, key=found.__getitem__), f"\n{board}"


def test_without_leisure_the_first_best_column_from_the_middle(oracle: Oracle) -> None:
    solver, rng = NativeSolver(), random.Random(4)
    for _ in range(30):
        board = random_board(20, rng)
        best = best_columns(board, solver)
        chosen = oracle.best_column(board, leisure=-inf)
        assert chosen == next(column for column in from_the_middle(board) if column in best)


def test_a_deadline_that_is_over(oracle: Oracle) -> None:
    board = Board.from_moves("444455251")  # past the book, and long to solve
    oracle.solver.forget()
    with pytest.raises(OutOfTimeError):
        oracle.best_column(board, deadline=now())


@pytest.mark.parametrize("size", [(4, 5, 4), (5, 4, 3), (4, 4, 4)])
def test_other_boards_have_no_book(size: tuple[int, int, int]) -> None:
    oracle, solver = Oracle(*size, 1), NativeSolver(*size)
    assert oracle.book is None
    rng = random.Random(5)
    for plies in (0, 3, 6, 9):
        board = random_board(plies, rng, size)
        assert oracle.best_column(board) in best_columns(board, solver)


def test_a_board_too_large_for_the_core_says_so() -> None:
    assert "12x12" in Oracle(12, 12, 4, 1).lacks


def test_from_the_middle() -> None:
    assert from_the_middle(Board()) == [3, 2, 4, 1, 5, 0, 6]
    assert from_the_middle(Board(4, 4, 3)) == [1, 2, 0, 3]
