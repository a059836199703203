"""The exact solvers: the one in Python against plain minimax, the native one against it and known values."""

import mmap
import os
import random
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from itertools import count
from math import inf
from pathlib import Path

import pytest

from engine import clock
from engine.board import Board
from engine.native import build
from engine.native import solver as native_solver
from engine.native.search import NativeSearch, weighted_windows
from engine.native.solver import NativeSolver, OutOfTimeError, Table, fits
from engine.solver import ExactSolver
from engine.windows import ARTICLE

POSITIONS = Path(__file__).parent.parent / "positions"
# Sizes for plain minimax: with the number of empty cells it can look through.
ODD_BOARDS = [
    ((4, 4, 3), 11),
    ((5, 4, 4), 11),
    ((5, 5, 4), 10),
    ((3, 7, 3), 10),
    ((6, 7, 3), 8),
    ((2, 8, 2), 9),
]
LARGE_BOARDS = [
    ((6, 9, 4), 8),
    ((8, 8, 5), 8),
    ((9, 7, 4), 8),
    ((12, 9, 5), 7),
    ((1, 20, 4), 7),
    ((10, 10, 4), 7),
]


def scored(name: str, count: int | None = None) -> list[tuple[str, int]]:
    lines = (POSITIONS / f"{name}.txt").read_text().splitlines()[:count]
    return [(moves, int(score)) for moves, score in map(str.split, lines)]


def plain_minimax(board: Board) -> int:
    """The score by its definition; shares nothing with the solvers but the rules."""
    if board.winner:  # the player who has just moved won with the disc number `ply`
        return -((board.geometry.cells + 2 - board.ply) // 2)
    return max((-plain_minimax(board.play(column)) for column in board.legal_moves()), default=0)


def late_positions(size: tuple[int, int, int], empty: int, count: int) -> list[Board]:
    """Positions of random games in which nobody wants to win, with at most so many cells empty."""
    rng = random.Random(str(size))
    found: list[Board] = []
    for _ in range(400 * count):
        board = Board(*size)
        target = board.geometry.cells - rng.randint(1, empty)
        while board.ply < target:
            children = [board.play(column) for column in board.legal_moves()]
            quiet = [child for child in children if not child.winner]
            if not quiet:
                break
            board = rng.choice(quiet)
        else:
            found.append(board)
        if len(found) == count:
            break
    return found


@pytest.fixture(scope="module")
def native() -> NativeSolver:
    return NativeSolver()


@pytest.mark.parametrize(("size", "empty"), ODD_BOARDS + LARGE_BOARDS, ids=str)
def test_both_solvers_give_the_scores_of_plain_minimax(size, empty):
    boards = late_positions(size, empty, 25)
    assert len(boards) >= 10
    readable, quick = ExactSolver(*size), NativeSolver(*size)
    for board in boards:
        expected = [None] * size[1]
        for column in board.legal_moves():
            expected[column] = -plain_minimax(board.play(column))
        assert readable.column_scores(board) == expected, f"\n{board}"
        assert quick.column_scores(board) == expected, f"\n{board}"
        best = max(score for score in expected if score is not None)
        assert readable.score(board) == quick.score(board) == best
        columns = [column for column, score in enumerate(expected) if score == best]
        for solver in (readable, quick):
            assert solver.best_columns(board) == solver.best_columns(board, score=best) == (best, columns)
        assert quick.score(board, weak=True) == (best > 0) - (best < 0)


@pytest.mark.parametrize("name", ["end-easy", "middle-easy", "middle-medium", "begin-easy"])
def test_stored_scores_and_those_of_mirror_images(name, native):
    """3,300 positions; their scores were found by another solver too, as engine/native/STEPS.md tells."""
    for moves, score in scored(name):
        board = Board.from_moves(moves)
        assert native.score(board) == score, moves
        assert native.score(board.mirror()) == score, moves
        assert native.score(board, weak=True) == (score > 0) - (score < 0), moves


@pytest.mark.parametrize("name", ["begin-medium", "begin-hard"])
@pytest.mark.slow
def test_stored_scores_of_hard_positions(name, native):
    for moves, score in scored(name):
        assert native.score(Board.from_moves(moves)) == score, moves


@pytest.mark.slow
def test_the_empty_board(native):
    """Known since Allis and Allen, 1988: the first player wins, with the centre only."""
    assert native.score(Board()) == 1
    assert native.column_scores(Board()) == [-2, -1, 0, 1, 0, -1, -2]


def test_the_readable_solver_visits_the_same_nodes(native, monkeypatch):
    """2,500 positions, each after the others: the tables keep and lose the same."""
    monkeypatch.setattr(native, "slice_nodes", native_solver.NO_LIMIT)
    native.forget()
    readable = ExactSolver()
    rows = scored("end-easy") + scored("middle-easy") + scored("begin-easy", 40) + scored("middle-medium", 15)
    for moves, score in rows + scored("end-easy", 400):
        board = Board.from_moves(moves)
        assert readable.score(board) == native.score(board) == score, moves
        assert readable.nodes == native.nodes, moves
        if score > 8:
            assert readable.best_columns(board) == native.best_columns(board), moves
            assert readable.nodes == native.nodes, moves


def test_the_readable_solver_stops_at_its_deadline():
    solver = ExactSolver()
    with pytest.raises(OutOfTimeError):
        solver.score(Board(), deadline=clock.now() + 0.05)
    assert solver.score(Board.from_moves(scored("end-easy", 1)[0][0])) == scored("end-easy", 1)[0][1]


def test_perft(native):
    native.set_board(Board())
    assert [native.perft(depth) for depth in range(9)] == [
        1,
        7,
        49,
        343,
        2401,
        16807,
        117649,
        823536,
        5673234,
    ]


def test_the_principal_variation_is_as_long_as_the_score_says(native):
    solver = ExactSolver()
    for moves, score in scored("end-easy", 60):
        board = Board.from_moves(moves)
        mover = board.turn
        line = native.principal_variation(board)
        assert line == solver.principal_variation(board)
        for column in line:
            board = board.play(column)
        assert board.winner == (0 if score == 0 else mover if score > 0 else 3 - mover)
        assert score == 0 or board.ply == 42 + 2 - 2 * abs(score) - (board.winner == 1)


def test_best_columns_are_those_of_the_best_scores(native):
    for moves, score in scored("middle-medium", 60) + scored("begin-easy", 10):
        board = Board.from_moves(moves)
        scores = native.column_scores(board)
        columns = [column for column, each in enumerate(scores) if each == score]
        native.forget()
        assert native.best_columns(board) == (score, columns), moves
        native.forget()
        assert native.best_columns(board, score=score) == (score, columns), moves


def test_a_column_reaches_its_score_and_no_more(native):
    positions = [(native, moves) for moves, _ in scored("middle-medium", 20)]
    positions += [(ExactSolver(), moves) for moves, _ in scored("end-easy", 20)]
    for solver, moves in positions:
        board = Board.from_moves(moves)
        for column, score in enumerate(native.column_scores(board)):
            if score is not None:
                assert solver.reaches(board, column, score), moves
                assert not solver.reaches(board, column, score + 1), moves


def test_a_full_board_is_a_draw_and_a_finished_game_has_no_score(native):
    rng = random.Random(3)
    while True:
        board = Board()
        while moves := board.legal_moves():
            board = board.play(rng.choice(moves))
        if board.is_draw:
            break
    assert native.score(board) == ExactSolver().score(board) == 0
    assert native.best_columns(board) == ExactSolver().best_columns(board) == (0, [])
    won = Board.from_moves("1212121")
    for solver in (native, ExactSolver()):
        with pytest.raises(ValueError, match="the game is over"):
            solver.score(won)


@pytest.mark.parametrize("size", [(5, 5, 4), (7, 6, 4), (6, 7, 5)], ids=str)
def test_boards_of_another_size_are_refused(size, native):
    board, message = Board(*size), "made for boards of 6x7, inarow 4, not of {}x{}, inarow {}".format(*size)
    search = NativeSearch(6, 7, 4, weighted_windows(ARTICLE), 1)
    for find in (
        native.set_board,
        native.score,
        native.column_scores,
        native.best_columns,
        native.principal_variation,
        partial(native.reaches, column=0, score=1),
        partial(search.alpha_beta, depth=2),
    ):
        with pytest.raises(ValueError, match=message):
            find(board)


def test_illegal_moves_are_counted_off(native):
    assert native.set_moves(bytes([3, 3, 9, 1])) == 2
    assert native.set_moves(bytes([3] * 7)) == 6
    assert native.set_moves(bytes([0, 1] * 4)) == 7


def test_forgetting_gives_the_same_nodes_again(native):
    board = Board.from_moves(scored("begin-easy", 1)[0][0])
    nodes = []
    for _ in range(300):  # more than there are generations
        native.forget()
        native.score(board)
        nodes.append(native.nodes)
    assert len(set(nodes)) == 1
    native.score(board)
    assert native.nodes < nodes[0]


def test_a_deadline_stops_the_search_and_leaves_the_solver_usable(native):
    native.forget()
    start = time.perf_counter()
    with pytest.raises(OutOfTimeError):
        native.score(Board(), deadline=clock.now() + 0.05)
    assert time.perf_counter() - start < 2  # from nothing the empty board takes seconds more
    assert native.score(Board.from_moves("4444445")) is not None


@pytest.mark.parametrize(
    ("size", "most"),
    [
        ((6, 7, 4), 10_000),
        ((1, 32, 16), 10_000),
        ((9, 10, 4), 10_000),
        ((12, 9, 5), 9000),
        ((3, 32, 4), 3200),
        ((5, 21, 10), 2048),
        ((3, 31, 8), 2048),
        ((3, 32, 12), 2048),
        ((3, 31, 16), 2048),
    ],
    ids=str,
)
def test_a_slice_has_fewer_nodes_where_a_node_takes_longer(size, most):
    """Between two slices deadlines and Ctrl-C are seen; how late that is: tests/benchmarks/deadlines.py."""
    solver, slices = NativeSolver(*size, table=Table(1)), []

    def call(address: int) -> None:
        solver.core.solver_score(address, -native_solver.WIDEST, native_solver.WIDEST)
        slices.append(solver.core.solver_nodes(address))
        if len(slices) == 5:
            raise KeyboardInterrupt

    solver.set_board(Board(*size))
    with pytest.raises(KeyboardInterrupt):
        solver._call(call, inf)
    assert len(slices) == 5
    assert 0.5 * most < max(slices) <= most + 1024  # the core looks at the limit every 1024


@pytest.mark.parametrize("size", [(6, 7, 4), (9, 10, 4), (3, 31, 16)], ids=str)
def test_a_deadline_is_seen_after_the_slice_in_which_it_passes(size, monkeypatch):
    """On a clock of looks, one before each MB of memory and one after each slice."""
    looks = count()
    monkeypatch.setattr(native_solver, "now", lambda: next(looks))
    solver = NativeSolver(*size, table=Table(1))
    with pytest.raises(OutOfTimeError):
        solver.score(Board(*size), deadline=6)
    assert next(looks) == 7
    assert solver.nodes <= 6 * (solver.slice_nodes + 1024)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer that interrupts")
@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_ends_a_search_at_once_and_leaves_the_solver_usable(threads):
    solver = NativeSolver(table=Table(1), threads=threads)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)

    def solve_until_interrupted() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        solver.score(Board())  # would take seconds

    try:
        with pytest.raises(KeyboardInterrupt):
            solve_until_interrupted()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    moves, score = scored("middle-medium", 1)[0]
    assert solver.score(Board.from_moves(moves)) == score


def test_two_threads_share_a_table_without_disturbing_each_other():
    table, rows, wrong = Table(16), scored("middle-medium", 200), []

    def work(rows: list[tuple[str, int]]) -> None:
        solver = NativeSolver(table=table)
        wrong.extend(moves for moves, score in rows if solver.score(Board.from_moves(moves)) != score)

    threads = [threading.Thread(target=work, args=(order,)) for order in (rows, rows[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_threads_solve_one_position_together():
    """Scores, columns and best columns; a deadline stops them all, and the solver can be used again."""
    solver, alone = NativeSolver(table=Table(16), threads=3), NativeSolver(table=Table(16))
    for moves, score in scored("begin-medium", 8) + scored("middle-easy", 8):
        board = Board.from_moves(moves)
        assert solver.score(board) == score, moves
        solver.forget()
        assert solver.best_columns(board) == alone.best_columns(board)
    assert solver.column_scores(board) == alone.column_scores(board)
    running = threading.active_count()
    with pytest.raises(OutOfTimeError):
        solver.score(Board(), deadline=clock.now() + 0.1)
    assert threading.active_count() == running
    assert solver.score(board) == score


@pytest.mark.skipif(not hasattr(mmap, "MADV_HUGEPAGE"), reason="only Linux is asked for huge pages")
def test_a_kernel_without_huge_pages_serves_as_well(monkeypatch):
    class Memory(mmap.mmap):
        def madvise(self, *_):
            raise OSError(22, "Invalid argument")

    monkeypatch.setattr(mmap, "mmap", Memory)
    moves, score = scored("middle-easy", 1)[0]
    assert NativeSolver(table=Table(1)).score(Board.from_moves(moves)) == score


def is_taken(make: Callable[[], object]) -> bool:
    try:
        make()
    except ValueError:
        return False
    return True


def test_the_core_takes_what_fits_and_nothing_else():
    """All boards up to a little more than 128 bits, with short and long lines."""
    table, evaluation = Table(1), weighted_windows(ARTICLE)
    for columns in range(1, 35):
        for rows in range(1, 140 // columns + 2):
            for inarow in (1, 4, 9, 16, 17):
                size = (rows, columns, inarow)
                fitting = fits(Board(*size))
                assert is_taken(partial(NativeSolver, *size, table)) == fitting, size
                assert is_taken(partial(NativeSearch, *size, evaluation, 1)) == fitting, size


def test_boards_that_do_not_fit_are_refused():
    assert fits(Board(6, 7, 4))
    assert fits(Board(12, 9, 5))
    assert not fits(Board(15, 15, 5))
    with pytest.raises(ValueError, match="no boards of 15x15"):
        NativeSolver(15, 15, 5)


@pytest.mark.parametrize("target", sorted({target for target, _ in build.TARGETS.values()}))
def test_the_core_compiles_for_every_platform_to_the_same_bytes(target, tmp_path):
    """Linux, macOS and Windows, in at most 64 KB; more on arm64 macOS, where parts begin at 16 KB each."""
    cpu = "x86_64_v2" if target.startswith("x86") else "baseline"
    libraries = []
    for folder in ("one", "another"):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / "core"
        build.compile_core(target, cpu, path)
        libraries.append(path.read_bytes())
    assert libraries[0] == libraries[1]
    assert len(libraries[0]) <= (96 if target == "aarch64-macos" else 64) * 1024


def test_a_library_of_another_source_is_not_loaded(monkeypatch, tmp_path):
    from engine.native import solver

    path = tmp_path / "core.so"
    build.compile_core(build.TARGETS["Linux", "x86_64"][0], "x86_64_v2", path)
    monkeypatch.setattr(solver, "library", lambda: path)
    monkeypatch.setattr(solver, "source_hash", lambda: 1)
    with pytest.raises(build.NativeError, match="made from another core"):
        solver.core.__wrapped__()


def test_without_a_home_it_compiles_into_a_temporary_folder(monkeypatch, tmp_path):
    """As on machines that let nobody write but there; the compiler's own caches included."""
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", os.devnull)
    monkeypatch.setenv("USERPROFILE", os.devnull)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = build.library()
    assert path.is_relative_to(tmp_path)
    assert path.stat().st_size > 0
    assert build.library() == path
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="temporary files are a user's own")
def test_a_temporary_folder_that_others_can_write_to_is_not_trusted(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    monkeypatch.setenv("HOME", os.devnull)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = tmp_path / f"connectx-kit-{os.getuid()}"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(build.NativeError, match="not this user's alone"):
        build.library()


def test_where_nothing_can_be_written_the_error_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    monkeypatch.setenv("HOME", os.devnull)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(build.NativeError, match="cannot be written"):
        build.library()


@pytest.mark.parametrize(
    ("cpuinfo", "expected"),
    [
        ("flags : ssse3 sse4_2 popcnt avx2 bmi1 bmi2 fma movbe", "x86_64_v3"),
        ("flags : ssse3 sse4_2 popcnt avx", "x86_64_v2"),
        ("flags : sse2", "baseline"),
        (None, "x86_64_v2"),
    ],
)
def test_the_baseline_of_the_processor(cpuinfo, expected, monkeypatch):
    def read_text(path: Path, **_: str) -> str:
        if cpuinfo is None:
            raise FileNotFoundError(path)
        return cpuinfo

    monkeypatch.setattr(build.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(Path, "read_text", read_text)
    assert build.processor() == expected


def test_without_a_compiler_the_error_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr(build, "find_spec", lambda _: None)
    with pytest.raises(build.NativeError, match="pip install -r requirements"):
        build.compile_core("x86_64-linux-gnu", "x86_64_v2", tmp_path / "core.so")
