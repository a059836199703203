import random
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from agents import deepening, n_step, one_step, perfect, random_legal
from engine.board import Board
from engine.native.build import NativeError
from engine.native.solver import NativeSolver, Table
from engine.oracle import Oracle
from tests.agents.observations import configure, observe

POSITIONS = Path(__file__).parent.parent / "positions"
NATIVE_SIZES = [(4, 4, 3), (4, 5, 4), (5, 4, 4), (5, 5, 4), (4, 6, 4), (3, 9, 4), (9, 3, 4), (8, 4, 4)]


def compiled() -> bool:
    try:
        NativeSolver(1, 1, 1, Table(1))
    except NativeError:
        return False
    return True


needs_core = pytest.mark.skipif(not compiled(), reason="no native core here")


@cache
def judge(size: tuple[int, int, int]) -> NativeSolver:
    """A solver that the agent knows nothing of."""
    return NativeSolver(*size)


def value(board: Board) -> int:
    """What the last move was worth to the side that made it."""
    shape = board.geometry
    if board.winner:
        return (shape.cells + 2 - board.ply) // 2
    return -judge((shape.rows, shape.columns, shape.inarow)).score(board)


def move(board: Board, act_timeout: float = 2, bank: float = 60) -> int:
    """What the agent plays, with much time: a machine under load must not decide what is best."""
    return perfect.agent(observe(board, bank), configure(board, act_timeout))


def assert_plays_best(board: Board, score: int) -> Board:
    """The position after the agent's move, which is worth as much as the position before."""
    after = board.play(move(board, act_timeout=60))
    assert value(after) == score, f"\n{board}\nafter column {after.last}"
    return after


def random_position(rng: random.Random, size: tuple[int, int, int], ply: int) -> Board:
    """A position after `ply` random moves of which none wins."""
    while True:
        board = Board(*size)
        while board.ply < ply and (columns := quiet_columns(board)):
            board = board.play(rng.choice(columns))
        if board.ply == ply:
            return board


def quiet_columns(board: Board) -> list[int]:
    return [column for column in board.legal_moves() if not board.play(column).winner]


def scored(name: str, number: int) -> Iterator[tuple[Board, int]]:
    for line in (POSITIONS / f"{name}.txt").read_text().splitlines()[:number]:
        moves, score = line.split()
        yield Board.from_moves(moves), int(score)


@needs_core
@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("end-easy", 1000),
        ("middle-easy", 1000),
        ("middle-medium", 200),
        ("begin-easy", 200),
        ("begin-medium", 20),
        pytest.param("middle-medium", 1000, marks=pytest.mark.slow),
        pytest.param("begin-medium", 100, marks=pytest.mark.slow),
        pytest.param("begin-hard", 40, marks=pytest.mark.slow),
    ],
)
def test_plays_a_best_column_where_the_score_is_known(name: str, number: int) -> None:
    for board, score in scored(name, number):
        assert_plays_best(board, score)


@needs_core
@pytest.mark.parametrize("number", [1000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_no_move_loses_value(number: int) -> None:
    rng = random.Random(3)
    for i in range(number):
        board = random_position(rng, (6, 7, 4), 12 + i % 30)
        assert_plays_best(board, judge((6, 7, 4)).score(board))


@needs_core
@pytest.mark.parametrize("number", [8, pytest.param(100, marks=pytest.mark.slow)])
def test_no_move_loses_value_in_the_first_plies(number: int) -> None:
    """Of plies 0 to 11, the last of which take a solver a tenth of a second each."""
    rng, exact = random.Random(8), Oracle(6, 7, 4, 16)
    for ply in [*range(12)] * number:
        board = random_position(rng, (6, 7, 4), ply)
        column = move(board, act_timeout=60)
        assert exact.value(board, column) == exact.score(board), f"\n{board}\ncolumn {column + 1}"


@needs_core
@pytest.mark.parametrize(
    ("ply", "number"),
    [(8, 4), (9, 4), (10, 4), *(pytest.param(ply, 50, marks=pytest.mark.slow) for ply in range(8, 12))],
)
def test_no_column_that_the_book_lists_loses_value(ply: int, number: int) -> None:
    """Positions that take long to solve, which the agent knows a best column of."""
    rng, exact, found = random.Random(ply), Oracle(6, 7, 4, 64), 0
    assert exact.book
    while found < number:
        board = random_position(rng, (6, 7, 4), ply)
        if (listed := exact.book.column(board)) is not None:
            found += 1
            assert move(board) == listed
            assert exact.solver.best_columns(board)[0] == exact.value(board, listed), f"\n{board}"


@needs_core
def test_two_threads_do_not_disturb_each_other() -> None:
    rng = random.Random(7)
    boards = [random_position(rng, (6, 7, 4), 12 + i % 10) for i in range(60)]
    best = {board: judge((6, 7, 4)).best_columns(board)[1] for board in boards}
    chosen: list[tuple[Board, int]] = []
    perfect.oracle.cache_clear()

    def play(order: list[Board]) -> None:
        chosen.extend((board, move(board, act_timeout=60)) for board in order)

    threads = [threading.Thread(target=play, args=(order,)) for order in (boards, boards[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(chosen) == 120
    assert [(board, column) for board, column in chosen if column not in best[board]] == []


@needs_core
@pytest.mark.parametrize("plies", [7, pytest.param(11, marks=pytest.mark.slow)])
def test_wins_as_first_player_whatever_the_replies(plies: int) -> None:
    exact, layer = Oracle(6, 7, 4, 16), {Board()}
    for _ in range(0, plies, 2):
        children = set()
        for board in layer:
            score, column = exact.score(board), move(board, act_timeout=60)
            assert score > 0
            assert exact.value(board, column) == score, f"\n{board}\ncolumn {column + 1}"
            after = board.play(column)
            replies = (after.play(reply) for reply in after.legal_moves())
            children.update(min(reply, reply.mirror(), key=hash) for reply in replies)
        layer = children


@pytest.mark.parametrize("opponent", [random_legal, one_step, n_step, deepening], ids=lambda m: m.__name__)
@pytest.mark.parametrize("games", [5, pytest.param(500, marks=pytest.mark.slow)])
def test_wins_every_game_as_first_player(opponent: ModuleType, games: int) -> None:
    for number in range(games):
        random.seed(number)
        board = Board()
        while not board.is_over:
            if board.turn == 1:
                board = board.play(move(board))
            else:
                board = board.play(opponent.agent(observe(board), configure(board, act_timeout=0.02)))
        assert board.winner == 1, f"game {number}\n{board}"


@needs_core
@pytest.mark.parametrize("size", NATIVE_SIZES, ids=str)
def test_is_exact_on_other_boards(size: tuple[int, int, int]) -> None:
    rng = random.Random(4)
    cells = size[0] * size[1]
    for ply in range(max(0, cells - 22), cells):
        board = random_position(rng, size, ply)
        assert_plays_best(board, judge(size).score(board))


@needs_core
@pytest.mark.parametrize("size", [(8, 8, 5), (9, 7, 4), (12, 9, 5)], ids=str)
def test_is_exact_near_the_end_of_large_boards(size: tuple[int, int, int]) -> None:
    rng = random.Random(5)
    cells = size[0] * size[1]
    for left in (1, 2, 4, 7, 9, 12, 14):
        board = random_position(rng, size, cells - left)
        assert_plays_best(board, judge(size).score(board))


@pytest.mark.parametrize("size", [(6, 7, 4), (1, 1, 1), (6, 7, 1), (10, 10, 4), (20, 20, 5)], ids=str)
@pytest.mark.parametrize(("act_timeout", "bank"), [(0.1, 60), (0.001, 60), (0, 0), (1, -3)])
def test_plays_legally_where_there_is_hardly_any_time(
    size: tuple[int, int, int], act_timeout: float, bank: float
) -> None:
    rng = random.Random(6)
    board = Board(*size)
    while not board.is_over:
        board = board.play(move(board, act_timeout, bank))
        if not board.is_over:
            board = board.play(rng.choice(board.legal_moves()))


@pytest.fixture
def without_core(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The agent as it is where the native core cannot be had."""

    def missing(*arguments: object) -> None:
        raise NativeError("the processor lacks avx2")

    monkeypatch.setattr("engine.oracle.NativeSolver", missing)
    for remembered in (perfect.oracle, perfect.say_once):
        remembered.cache_clear()
    yield
    for remembered in (perfect.oracle, perfect.say_once):
        remembered.cache_clear()


@pytest.mark.usefixtures("without_core")
def test_says_once_that_there_is_no_core(capsys: pytest.CaptureFixture[str]) -> None:
    for size in ((6, 7, 4), (5, 7, 4), (6, 8, 4)):
        for moves in ("", "44", "4455"):
            assert move(Board.from_moves(moves, *size), act_timeout=0.05) in range(size[1])
    assert capsys.readouterr() == ("", f"{perfect.WEAKER}: the processor lacks avx2\n")


@needs_core
def test_says_once_that_a_board_is_too_large_for_the_core(capsys: pytest.CaptureFixture[str]) -> None:
    perfect.oracle.cache_clear()
    perfect.say_once.cache_clear()
    for moves in ("", "12"):
        assert move(Board.from_moves(moves, 12, 12, 4), act_timeout=0.05) in range(12)
    message = f"{perfect.WEAKER}: the native core has no boards of 12x12, inarow 4\n"
    assert capsys.readouterr() == ("", message)


@pytest.mark.usefixtures("without_core")
def test_is_exact_near_the_end_without_the_core() -> None:
    for board, score in scored("end-easy", 200):
        assert_plays_best(board, score)


@pytest.mark.usefixtures("without_core")
@pytest.mark.parametrize("size", [(4, 5, 4), (5, 4, 3), (9, 9, 5), (12, 12, 5)], ids=str)
def test_plays_whole_games_without_the_core(size: tuple[int, int, int]) -> None:
    board = Board(*size)
    while not board.is_over:
        board = board.play(move(board, act_timeout=0.05))
