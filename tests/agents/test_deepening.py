import random
import time
from functools import partial
from itertools import chain, count, pairwise
from math import inf

import pytest

from agents import deepening
from agents.deepening import Position, candidates, judge, think
from engine.board import Board
from engine.native.search import NativeSearch
from engine.search import alpha_beta, forced_moves, iterative_deepening, quiescence, winning_moves
from tests.agents.observations import configure, observe

SIZES = [
    (6, 7, 4),
    (4, 5, 3),
    (5, 4, 5),
    (1, 1, 1),
    (1, 1, 4),
    (3, 4, 2),
    (3, 5, 1),
    (7, 9, 5),
    (5, 6, 4),
    (4, 4, 9),
]
SMALL = [(4, 4, 3), (4, 4, 4), (3, 5, 3), (5, 3, 3), (4, 5, 4), (3, 3, 9)]


def random_games(size: tuple[int, int, int], number: int) -> list[list[Board]]:
    """The positions of random games, each from the empty board to the end."""
    rng = random.Random(repr(size))
    games = []
    for _ in range(number):
        games.append([Board(*size)])
        while not (board := games[-1][-1]).is_over:
            games[-1].append(board.play(rng.choice(board.legal_moves())))
    return games


def cell_of(board: Board, column: int) -> int:
    """The move of a `Position` that is `column` on the board."""
    after = board.play(column)
    return (after.own | after.other) ^ (board.own | board.other)


def column_of(board: Board, move: int) -> int:
    return next(column for column in board.legal_moves() if cell_of(board, column) == move)


def winning_cells(board: Board, mark: int) -> int:
    """The empty cells that would complete a line of `mark`, found by putting a disc on each."""
    cells = [1 << bit for bit in range(board.geometry.stride * board.geometry.columns)]
    empty = sum(board.geometry.full_columns) & ~(board.own | board.other)
    return sum(cell for cell in cells if cell & empty and board.geometry.has_line(board.discs(mark) | cell))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_position_follows_the_board_move_by_move(size: tuple[int, int, int]) -> None:
    for game in random_games(size, 8):
        position = Position(game[0])
        for board, after in pairwise(game):
            assert [column_of(board, move) for move in sorted(position.legal_moves())] == board.legal_moves()
            assert position.own_wins == winning_cells(board, board.turn)
            assert position.other_wins == winning_cells(board, 3 - board.turn)
            position = position.play(cell_of(board, after.last))
            assert (position.own, position.other) == (after.own, after.other)
            assert (position.turn, position.winner) == (after.turn, after.winner)
            assert position.worth == Position(after).worth
        assert not position.legal_moves()
        assert not candidates(position)


def test_windows_are_worth_what_they_lack() -> None:
    # Of the 13 windows through the fourth cell of the bottom row 4 lie in it, 1 above it, 2 on diagonals.
    assert Position(Board.from_moves("4")).worth == -deepening.WINDOWS[2] * 7
    assert Position(Board.from_moves("41")).worth == deepening.WINDOWS[2] * (6 - 2)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_winning_cells_count_in_the_right_rows_unless_right_above_one_of_the_opponent(
    size: tuple[int, int, int],
) -> None:
    rows, columns, _ = size
    begins_last_column = 1 if rows * (columns - 1) % 2 == 0 else 2

    def hopes(board: Board, mark: int) -> int:
        mine, theirs = winning_cells(board, mark), winning_cells(board, 3 - mark)
        heights = [
            bit % (rows + 1)
            for bit in range(mine.bit_length())
            if mine >> bit & 1 and not theirs << 1 >> bit & 1
        ]
        return sum((height % 2 == 0) == (mark == begins_last_column) for height in heights)

    for board in chain.from_iterable(game[:-1] for game in random_games(size, 8)):
        position = Position(board)
        difference = hopes(board, board.turn) - hopes(board, 3 - board.turn)
        assert judge(position, board.turn) == position.worth + deepening.PARITY * difference, f"\n{board}"


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_forced_moves_are_those_of_the_reference(size: tuple[int, int, int]) -> None:
    for game in random_games(size, 20):
        for board in game:
            reference = forced_moves(board)
            forced = Position(board).forced()
            if not forced:
                assert not reference
            elif all(winning_moves(board.play(column)) for column in board.legal_moves()):
                assert column_of(board, forced) in board.legal_moves()  # lost, whatever is played
            else:
                assert column_of(board, forced) in reference


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_candidates_leave_out_only_what_loses_at_once(size: tuple[int, int, int]) -> None:
    for game in random_games(size, 20):
        for board in game[:-1]:
            columns = {column_of(board, move) for move in candidates(Position(board))}
            safe = {column for column in board.legal_moves() if not winning_moves(board.play(column))}
            assert columns
            if winning_moves(board):
                assert columns <= set(winning_moves(board))
            elif safe:
                assert columns == safe


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_what_is_good_for_one_is_as_bad_for_the_other_and_left_is_like_right(
    size: tuple[int, int, int],
) -> None:
    for board in chain.from_iterable(random_games(size, 5)):
        value = judge(Position(board), 1)
        assert judge(Position(board), 2) == -value
        assert judge(Position(board.mirror()), 1) == value
        assert (abs(value) >= deepening.WIN - board.geometry.cells) == (board.winner != 0)


@pytest.mark.parametrize("size", SMALL, ids=str)
def test_seen_to_the_end_the_quickest_win_and_the_longest_resistance_are_found(
    size: tuple[int, int, int],
) -> None:
    """Against a plain search to the end of the game that knows only who wins, and after how many discs."""

    def ended(board: Board, player: int) -> int:
        worth = deepening.WIN - board.ply if board.winner else 0
        return worth if board.winner == player else -worth

    positions = chain.from_iterable(game[:-1] for game in random_games(size, 30))
    for board in positions:
        empty = board.geometry.cells - board.ply
        if empty > 10:
            continue
        exact = alpha_beta(board, empty, ended)
        result = think(board, inf)
        if not Position(board).forced():  # with no choice it does not look any further
            assert result.value == exact.value, f"\n{board}"
        assert {column_of(board, move) for move in result.best_moves} <= set(exact.best_moves), f"\n{board}"


@pytest.mark.parametrize("size", [*SIZES, (12, 9, 5)], ids=str)
def test_the_native_core_makes_the_same_search(
    size: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each depth; what is seen further on depends on where the lines that were looked at end."""
    quiet = quiescence(judge, deepening.forced_cells)
    for board in chain.from_iterable(game[:-1:4] for game in random_games(size, 4)):
        position = Position(board)
        core = NativeSearch(*size, deepening.core_evaluation(board.geometry, board.turn), megabytes=1)
        for depth in range(1, 4):
            reached = partial(lambda depth, result: result.depth == depth, depth)
            found = deepening.in_cells(board, core.iterative_deepening(board, inf, until=reached))
            expected = iterative_deepening(position, quiet, inf, until=reached, order=candidates)
            assert (found.value, found.best_moves) == (expected.value, expected.best_moves), f"\n{board}"
            end = position
            for move in found.principal_variation:
                assert move in end.legal_moves()
                end = end.play(move)
            assert quiet(end, board.turn) == found.value


def test_without_the_native_core_it_settles_for_the_same_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    for game in random_games((4, 4, 3), 6):
        for board in game[6:-1]:
            native = think(board, inf)
            with monkeypatch.context() as patch:
                patch.setattr(deepening, "NATIVE", False)
                readable = think(board, inf)
            assert (native.value, native.best_moves) == (readable.value, readable.best_moves), f"\n{board}"


@pytest.mark.parametrize(
    ("moves", "columns"),
    [
        ("112233", {3}),  # wins
        ("11223", {3}),  # blocks
        ("1122335", {3}),  # O wins, though X would too
        ("334", {1, 4}),  # X must not get three with both ends open
    ],
)
def test_tactics(moves: str, columns: set[int]) -> None:
    board = Board.from_moves(moves)
    random_move = deepening.agent(observe(board), configure(board, act_timeout=0.2))
    assert random_move in columns


@pytest.mark.parametrize(("moves", "column"), [("112233", 3), ("11223", 3), ("44", 3)])
@pytest.mark.parametrize("act_timeout", [0, 1e-9])
def test_without_any_time_it_wins_blocks_or_plays_in_the_middle(
    moves: str, column: int, act_timeout: float
) -> None:
    board = Board.from_moves(moves)
    assert deepening.agent(observe(board), configure(board, act_timeout)) == column


@pytest.mark.parametrize("size", [(6, 7, 4), (15, 15, 5)], ids=str)
@pytest.mark.parametrize("seconds", [8, 100, 1000])
def test_never_looks_beyond_its_deadline(
    size: tuple[int, int, int], seconds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a clock that is one second later whenever somebody looks at it."""
    board = Board(*size)
    ticks = count()
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(ticks)))
    move = deepening.agent(observe(board), configure(board, act_timeout=seconds))
    assert move in board.legal_moves()
    assert next(ticks) <= seconds


def test_remembers_nothing_from_one_move_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    def choose(board: Board) -> int:
        ticks = count()
        monkeypatch.setattr(time, "perf_counter", lambda: float(next(ticks)))
        return deepening.agent(observe(board), configure(board, act_timeout=500))

    boards = [board for game in random_games((6, 7, 4), 2) for board in game[:-1]]
    alone = [choose(board) for board in boards]
    assert alone[::-1] == [choose(board) for board in boards[::-1]]


def test_beats_random_moves_in_both_seats() -> None:
    rng = random.Random(1)
    for seat in (1, 2) * 5:
        board = Board()
        while not board.is_over:
            mine = board.turn == seat
            board = board.play(
                deepening.agent(observe(board), configure(board, act_timeout=0.01))
                if mine
                else rng.choice(board.legal_moves())
            )
        assert board.winner == seat, f"\n{board}"
