import random
import time
from functools import lru_cache
from itertools import count

import pytest

from agents import n_step
from engine.board import Board
from engine.clock import now
from engine.native import search
from engine.native.build import NativeError
from engine.native.search import weighted_windows
from engine.windows import preset, window_evaluation
from tests.agents.observations import configure, observe

Grid = list[list[int]]


# --- The lesson, written again the straightforward way: plain minimax over a grid of lists, row 0 on top. ---


@lru_cache
def windows(rows: int, columns: int, inarow: int) -> list[list[tuple[int, int]]]:
    """The cells of every window; the negative diagonals too, which the lesson's terminal test leaves out."""
    lines = [
        [(row + i * down, column + i * right) for i in range(inarow)]
        for down, right in ((0, 1), (1, 0), (1, 1), (-1, 1))
        for row in range(rows)
        for column in range(columns)
    ]
    return [line for line in lines if all(0 <= row < rows and 0 <= column < columns for row, column in line)]


def cells_of_windows(grid: Grid, inarow: int) -> list[list[int]]:
    return [[grid[r][c] for r, c in line] for line in windows(len(grid), len(grid[0]), inarow)]


def drop_piece(grid: Grid, column: int, mark: int) -> Grid:
    after = [list(row) for row in grid]
    row = max(row for row in range(len(grid)) if grid[row][column] == 0)
    after[row][column] = mark
    return after


def valid_columns(grid: Grid) -> list[int]:
    return [column for column, cell in enumerate(grid[0]) if cell == 0]


def is_terminal(grid: Grid, inarow: int) -> bool:
    return 0 not in grid[0] or any(
        inarow in (window.count(1), window.count(2)) for window in cells_of_windows(grid, inarow)
    )


def heuristic(grid: Grid, mark: int, inarow: int) -> float:
    score = 0.0
    for window in cells_of_windows(grid, inarow):
        own, theirs = window.count(mark), window.count(3 - mark)
        if own == inarow:
            score += 1e6
        elif theirs == inarow:
            score -= 1e4
        elif theirs == 0 and 0 < own == inarow - 1:
            score += 1
        elif own == 0 and 0 < theirs == inarow - 1:
            score -= 1e2
    return score


def minimax(grid: Grid, depth: int, maximising: bool, mark: int, inarow: int) -> float:
    if depth == 0 or is_terminal(grid, inarow):
        return heuristic(grid, mark, inarow)
    mover, choose = (mark, max) if maximising else (3 - mark, min)
    return choose(
        minimax(drop_piece(grid, column, mover), depth - 1, not maximising, mark, inarow)
        for column in valid_columns(grid)
    )


def lesson_columns(board: Board, steps: int) -> tuple[int, ...]:
    cells, columns, inarow = board.to_flat(), board.geometry.columns, board.geometry.inarow
    grid = [cells[start : start + columns] for start in range(0, len(cells), columns)]
    scores = {
        column: minimax(drop_piece(grid, column, board.turn), steps - 1, False, board.turn, inarow)
        for column in valid_columns(grid)
    }
    return tuple(column for column in scores if scores[column] == max(scores.values()))


# ------------------------------------------------------------------------------------------------------------


def unfinished(rng: random.Random, size: tuple[int, int, int]) -> Board:
    """A position of a random game, at any ply before its end."""
    board = Board(*size)
    positions = [board]
    while not (board := board.play(rng.choice(board.legal_moves()))).is_over:
        positions.append(board)
    return rng.choice(positions)


@pytest.mark.parametrize("native", [True, False], ids=["native", "readable"])
@pytest.mark.parametrize("size", [(6, 7, 4), (4, 5, 3), (5, 6, 5), (4, 6, 2)], ids=str)
def test_the_best_columns_are_the_lessons(
    native: bool, size: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(n_step, "NATIVE", native)
    rng = random.Random(repr((native, size)))
    for _ in range(65):
        board = unfinished(rng, size)
        assert n_step.best_columns(board) == lesson_columns(board, 3), f"\n{board}"


@pytest.mark.parametrize("steps", [1, 2, 4, 5])
@pytest.mark.parametrize("size", [(4, 4, 3), (3, 3, 3), (3, 4, 4), (2, 3, 1), (3, 3, 5)], ids=str)
def test_other_numbers_of_steps(
    steps: int, size: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(n_step, "N_STEPS", steps)
    rng = random.Random(repr((steps, size)))
    for _ in range(8):
        board = unfinished(rng, size)
        assert n_step.best_columns(board) == lesson_columns(board, steps), f"\n{board}"


def test_a_win_along_the_diagonal_that_the_lesson_misses_ends_the_game() -> None:
    """O is about to win with the diagonal that rises to column 5, which the lesson's terminal test misses.

    So the lesson would play on after that win, make a four in column 7 and think it had won.
    """
    board = Board.from_moves("53434116645532")
    assert n_step.best_columns(board) == lesson_columns(board, 3) == (4,)


def test_stops_the_opponents_win() -> None:
    assert n_step.best_columns(Board.from_moves("71727")) == (6,)


def test_draws_among_all_the_best_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    random.seed(1)
    board = Board()
    best = n_step.best_columns(board)
    assert len(best) > 1
    assert {n_step.agent(observe(board), configure(board)) for _ in range(100)} == set(best)


@pytest.fixture
def a_tick_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that is one second later whenever the readable search looks at it."""
    monkeypatch.setattr(n_step, "NATIVE", False)
    ticks = count()
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(ticks)))


@pytest.mark.usefixtures("a_tick_a_look")
def test_what_was_seen_by_the_deadline_counts() -> None:
    board = Board.from_moves("4435")
    # One look for each position valued: 7 at depth 1, at most 49 at depth 2, and more at depth 3.
    assert n_step.best_columns(board, deadline=20) == lesson_columns(board, 1)


@pytest.mark.usefixtures("a_tick_a_look")
def test_two_steps_fit_before_the_deadline() -> None:
    board = Board.from_moves("4435")
    assert n_step.best_columns(board, deadline=60) == lesson_columns(board, 2)


def test_without_time_every_legal_column_counts_as_best() -> None:
    board = Board.from_moves("444444")
    assert n_step.best_columns(board, deadline=0) == tuple(board.legal_moves())


@pytest.mark.parametrize("bank", [60, 0.5, -1])
def test_many_steps_on_a_large_board_end_in_time(bank: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(n_step, "N_STEPS", 50)  # would take longer than there is time in the world
    board = Board(15, 15, 5)
    move = n_step.agent(observe(board, bank), configure(board, act_timeout=0.1))
    assert move in board.legal_moves()


@pytest.mark.parametrize("name", ["video", "article", "notebook"])
def test_another_preset_still_wins_and_stops_wins(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(n_step, "EVALUATE", window_evaluation(preset(name)))
    monkeypatch.setattr(n_step, "CORE_EVALUATE", weighted_windows(preset(name)))
    assert n_step.best_columns(Board.from_moves("71727")) == (6,)
    assert 3 in n_step.best_columns(Board.from_moves("112233"))


def test_twelve_steps_are_seen_in_a_moves_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the native core; the readable search would not finish eight."""
    monkeypatch.setattr(n_step, "N_STEPS", 12)
    assert n_step.best_columns(Board(), now() + 20) == n_step.best_columns(Board())


def test_twelve_steps_from_the_empty_board_take_less_than_a_million_nodes() -> None:
    """Of 0.1 us each; the same without a clock."""
    core = search.native_search(Board(), n_step.CORE_EVALUATE)
    assert core
    assert core.alpha_beta(Board(), 12).nodes < 1_000_000


@pytest.mark.slow
def test_twelve_steps_take_less_than_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processor time; a thirtieth of it was measured."""
    monkeypatch.setattr(n_step, "N_STEPS", 12)
    board = Board()
    start = time.process_time()
    assert n_step.agent(observe(board), configure(board)) in range(7)
    assert time.process_time() - start < 2


def test_without_the_native_core_it_says_so_once_and_plays_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(*_: object) -> None:
        raise NativeError("no compiler")

    expected = n_step.best_columns(Board())
    monkeypatch.setattr(search, "_search_of", missing)
    search._tell_once.cache_clear()
    assert n_step.best_columns(Board()) == n_step.best_columns(Board()) == expected
    assert capsys.readouterr().err == ("no native core, so the search in Python sees less far: no compiler\n")
