"""The native search against the readable one: the same values and the same best columns."""

import random
import threading
import time
from functools import partial
from itertools import count
from math import inf

import pytest

from engine import clock
from engine.board import Board
from engine.native import search as native_search
from engine.native import solver as native_solver
from engine.native.search import FEW_NODES, NODES_A_SLICE, NativeSearch, weighted_windows
from engine.native.solver import Table
from engine.search import SearchResult, alpha_beta, iterative_deepening, minimax, quiescence
from engine.solver import OutOfTimeError
from engine.windows import ARTICLE, LESSON_N_STEP, PRESETS, Weights, window_evaluation

# With how deep to look.
SIZES = [
    ((6, 7, 4), 4),
    ((5, 4, 4), 5),
    ((4, 4, 3), 5),
    ((6, 9, 4), 3),
    ((8, 8, 5), 3),
    ((9, 7, 4), 3),
    ((12, 9, 5), 3),
    ((7, 16, 6), 2),
    ((3, 6, 2), 4),
    ((4, 5, 1), 2),
    ((4, 4, 9), 4),
    ((1, 9, 3), 5),
    ((9, 1, 3), 5),
    ((3, 32, 5), 1),
]
EIGHTHS = Weights(10, 0.5, 0.25, 0, -1.5, -0.125, 3, (1000.5, -1, -1e30))  # sums of these are exact,
TENTHS = Weights(3.3, 0.1, 0.7, 0, -0.35, -0.1, 0.3)  # of these depend on the order of adding up
WEIGHTS = {**PRESETS, "eighths": EIGHTHS, "tenths": TENTHS}


def random_positions(size: tuple[int, int, int], count: int, seed: str) -> list[Board]:
    """Positions of random games, at any ply, most of them not over; of both players to move."""
    rng, found = random.Random(f"{size} {seed}"), list[Board]()
    while len(found) < count:
        board = Board(*size)
        for _ in range(rng.randrange(board.geometry.cells + 1)):
            if board.is_over:
                break
            board = board.play(rng.choice(board.legal_moves()))
        if not board.is_over or rng.random() < 0.1:
            found.append(board)
    return found


def assert_same(board: Board, found: SearchResult, expected: SearchResult, evaluate) -> None:
    shown = f"\n{board}\n{found}\n{expected}"
    assert (found.value, found.best_moves) == (expected.value, expected.best_moves), shown
    assert found.principal_variation[:1] == () or found.principal_variation[0] in found.best_moves, shown
    end = board
    for column in found.principal_variation:
        end = end.play(column)
    assert evaluate(end, board.turn) == found.value, shown


@pytest.mark.parametrize("quiet", [False, True], ids=["", "quiet"])
@pytest.mark.parametrize("name", WEIGHTS)
def test_values_and_best_columns_of_the_readable_search(name, quiet):
    """On 168 random positions for all weights. (The readable quiescence is slow on large boards.)"""
    evaluate = window_evaluation(WEIGHTS[name])
    evaluate = quiescence(evaluate) if quiet else evaluate
    for size, depth in SIZES:
        search = NativeSearch(*size, weighted_windows(WEIGHTS[name], quiet=quiet), megabytes=1)
        for board in random_positions(size, 12, f"{name} {quiet}"):
            steps = 1 + board.ply % (2 if quiet and size[1] < 12 else 1 if quiet else depth)
            found = search.alpha_beta(board, steps)
            assert found.depth == steps
            assert_same(board, found, alpha_beta(board, steps, evaluate), evaluate)
            if steps == 2:
                assert_same(board, found, minimax(board, steps, evaluate), evaluate)


def test_iterative_deepening_at_each_depth_and_to_the_end_of_the_game():
    evaluate = window_evaluation(ARTICLE)
    search = NativeSearch(4, 4, 3, weighted_windows(ARTICLE))
    late = [board for board in random_positions((4, 4, 3), 150, "deepening") if board.ply > 6]
    assert len(late) > 20
    for board in late:
        found: list[SearchResult] = []
        last = search.iterative_deepening(board, inf, until=partial(_note, found))
        for result in found:
            assert_same(board, result, alpha_beta(board, result.depth, evaluate), evaluate)
        assert [result.depth for result in found] == list(range(1, len(found) + 1))
        assert_same(board, last, iterative_deepening(board, evaluate, inf, table_size=10**6), evaluate)


def _note(found: list[SearchResult], result: SearchResult) -> bool:
    found.append(result)
    return False


def test_the_same_search_takes_the_same_nodes():
    board = Board.from_moves("4444")
    search = NativeSearch(6, 7, 4, weighted_windows(LESSON_N_STEP))
    first = search.alpha_beta(board, 9)
    search.alpha_beta(Board.from_moves("12"), 7)
    assert search.alpha_beta(board, 9) == first


@pytest.mark.parametrize("board", [Board(), Board(12, 9, 5)], ids=["64 bits", "128 bits"])
def test_deadlines(board):
    size = board.geometry.rows, board.geometry.columns, board.geometry.inarow
    search = NativeSearch(*size, weighted_windows(ARTICLE, quiet=True))
    start = time.perf_counter()
    result = search.iterative_deepening(board, clock.now() + 0.1)
    assert time.perf_counter() - start < 5
    assert 3 < result.depth < board.geometry.cells
    nothing = search.iterative_deepening(board, clock.now())
    assert (nothing.depth, nothing.best_moves) == (0, tuple(board.legal_moves()))
    assert (
        search.alpha_beta(board, 3).best_moves
        == alpha_beta(board, 3, quiescence(window_evaluation(ARTICLE))).best_moves
    )


def test_the_memory_of_the_whole_table_is_taken_before_it_is_used():
    """Piece by piece: all in one slice it took 41 ms, in which no deadline was seen."""
    search = NativeSearch(6, 7, 4, weighted_windows(ARTICLE))
    assert search.alpha_beta(Board(), 6).nodes < FEW_NODES
    assert search._table._taken == 0
    assert search.alpha_beta(Board(), 12).nodes > FEW_NODES
    assert search._table._taken == search._table.bytes


def test_a_deadline_while_memory_is_taken_leaves_the_last_finished_depth(monkeypatch):
    def refuse(*_):
        raise OutOfTimeError("the position was not solved in time")

    monkeypatch.setattr(Table, "take_memory", refuse)
    search = NativeSearch(6, 7, 4, weighted_windows(ARTICLE))
    result = search.iterative_deepening(Board(), inf)
    assert result.nodes >= FEW_NODES
    assert result == search.alpha_beta(Board(), result.depth)


@pytest.mark.parametrize("size", [(6, 7, 4), (12, 9, 5), (3, 31, 16)], ids=str)
def test_a_deadline_is_seen_after_the_slice_in_which_it_passes(size, monkeypatch):
    """On a clock of looks: how long a slice takes is measured by tests/benchmarks/deadlines.py."""
    looks = count()
    for module in (native_search, native_solver):
        monkeypatch.setattr(module, "now", lambda: next(looks))
    search = NativeSearch(*size, weighted_windows(ARTICLE, quiet=True), megabytes=1)
    board = Board(*size)
    result = search.iterative_deepening(board, 20)
    assert next(looks) == 21
    assert result.best_moves
    most = 20 * (NODES_A_SLICE + size[1])  # one look a slice at least; the last node looks at all its moves
    assert search.core.windows_nodes(search._search) <= most


def test_two_threads_do_not_disturb_each_other():
    boards = random_positions((6, 7, 4), 30, "threads")
    kinds = [weighted_windows(ARTICLE), weighted_windows(LESSON_N_STEP)]
    expected = [[NativeSearch(6, 7, 4, kind).alpha_beta(board, 7) for board in boards] for kind in kinds]
    results: dict[int, list[SearchResult]] = {}

    def work(number: int) -> None:
        search = NativeSearch(6, 7, 4, kinds[number])
        results[number] = [search.alpha_beta(board, 7) for board in boards]

    threads = [threading.Thread(target=work, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [results[0], results[1]] == expected


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="no boards of 15x15"):
        NativeSearch(15, 15, 5, weighted_windows(ARTICLE))
    with pytest.raises(ValueError, match="whole numbers and floats"):
        NativeSearch(6, 7, 4, weighted_windows(Weights(three=2**60 + 1)))
    with pytest.raises(ValueError, match="at least 1 move"):
        NativeSearch(6, 7, 4, weighted_windows(ARTICLE)).alpha_beta(Board(), 0)
