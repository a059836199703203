"""The rules: exact counts, every edge of size, and agreement with a slow line scan."""

import copy
import pickle
import random
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.board import Board, BoardError, Geometry, format_moves, parse_moves

SIZES = [
    (6, 7, 4),
    (1, 1, 1),
    (1, 1, 4),
    (1, 7, 4),
    (7, 1, 4),
    (3, 3, 3),
    (4, 5, 2),
    (2, 12, 5),
    (9, 8, 5),
    (15, 15, 5),
]

# Distinct positions after n plies (OEIS A212693) and move sequences without a finished game,
# from "Facts for tests" on solving Connect Four.
DISTINCT_POSITIONS = [1, 7, 49, 238, 1120, 4263, 16422]
SEQUENCES = [1, 7, 49, 343, 2401, 16807, 117649]


def slow_winner(cells: list[int], rows: int, columns: int, inarow: int) -> int:
    """A line scan over the flat board that shares no code with the rules."""
    for row in range(rows):
        for column in range(columns):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                line = [(row + down * i, column + right * i) for i in range(inarow)]
                if all(0 <= r < rows and 0 <= c < columns for r, c in line):
                    marks = {cells[r * columns + c] for r, c in line}
                    if len(marks) == 1 and marks != {0}:
                        return marks.pop()
    return 0


def random_game(size: tuple[int, int, int], rng: random.Random) -> list[Board]:
    boards = [Board(*size)]
    while moves := boards[-1].legal_moves():
        boards.append(boards[-1].play(rng.choice(moves)))
    return boards


def perft(board: Board, depth: int) -> int:
    return 1 if depth == 0 else sum(perft(board.play(column), depth - 1) for column in board.legal_moves())


def test_distinct_positions_by_ply():
    level = {Board()}
    for ply, expected in enumerate(DISTINCT_POSITIONS):
        assert len(level) == expected, f"after {ply} plies"
        level = {board.play(column) for board in level for column in board.legal_moves()}


def test_perft():
    assert [perft(Board(), depth) for depth in range(7)] == SEQUENCES


def test_perft_where_games_start_to_end():
    """Ply 7 is the first at which a game can have been won: 823,543 sequences less 7 wins in one column."""
    assert perft(Board(), 7) == 823_536
    level = {Board()}
    for _ in range(8):
        level = {board.play(column) for board in level for column in board.legal_moves()}
    assert len(level) == 184_275


def test_the_standard_board_has_69_lines():
    assert len(set(Board().geometry.lines)) == 69


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_lines_are_those_of_a_slow_scan(size):
    rows, columns, inarow = size
    count = sum(
        0 <= row + up * (inarow - 1) < rows and column + right * (inarow - 1) < columns
        for row in range(rows)
        for column in range(columns)
        for up, right in ([(1, 0), (0, 1), (1, 1), (-1, 1)] if inarow > 1 else [(0, 0)])
    )
    lines = Geometry(*size).lines
    assert len(lines) == len(set(lines)) == count
    assert all(line.bit_count() == inarow for line in lines)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_winner_draw_turn_and_legal_moves_agree_with_a_slow_reading_of_the_flat_board(size):
    _, columns, inarow = size
    rng = random.Random(str(size))
    for _ in range(30):
        for ply, board in enumerate(random_game(size, rng)):
            cells = board.to_flat()
            winner = slow_winner(cells, *size)
            assert board.winner == winner, f"\n{board}"
            assert board.is_draw == (not winner and 0 not in cells)
            assert board.is_over == bool(winner or 0 not in cells)
            assert board.legal_moves() == ([] if winner else [c for c in range(columns) if cells[c] == 0])
            assert (board.ply, board.turn) == (ply, 1 + ply % 2)
            twin = Board.from_flat(cells, *size, turn=board.turn)
            assert twin == board
            assert hash(twin) == hash(board)
            assert (twin.winner, twin.ply) == (board.winner, board.ply)
            assert len(board.winning_line()) >= (inarow if winner else 0)


def test_a_line_longer_than_the_board_is_never_made():
    boards = random_game((3, 3, 4), random.Random(0))
    assert boards[-1].is_draw
    assert boards[-1].geometry.lines == ()


def test_one_in_a_row_is_won_by_the_first_disc():
    board = Board(1, 1, 1).play(0)
    assert (board.winner, board.legal_moves(), board.winning_line()) == (1, [], [(0, 0)])


def test_a_full_single_cell_is_a_draw():
    assert Board(1, 1, 4).play(0).is_draw


@pytest.mark.parametrize(
    ("moves", "line"),
    [
        pytest.param("1213141", [(0, 0), (1, 0), (2, 0), (3, 0)], id="vertical"),
        pytest.param("1122334", [(0, 0), (0, 1), (0, 2), (0, 3)], id="horizontal"),
        pytest.param("12234334544", [(0, 0), (1, 1), (2, 2), (3, 3)], id="rising"),
        pytest.param("76654554344", [(3, 3), (2, 4), (1, 5), (0, 6)], id="falling"),
    ],
)
def test_winning_line_of_every_direction(moves, line):
    board = Board.from_moves(moves)
    assert board.winner == 1
    assert board.winning_line() == line, f"\n{board}"


def test_moves_are_refused_by_name():
    with pytest.raises(BoardError, match="column 8 does not exist: columns are 1 to 7"):
        Board().play(7)
    with pytest.raises(BoardError, match="column 0 does not exist"):
        Board().play(-1)
    with pytest.raises(BoardError, match="move 7 of '4444444': column 4 is full"):
        Board.from_moves("4444444")
    with pytest.raises(BoardError, match="move 8 of '12121212': the game is over: player 1 has won"):
        Board.from_moves("12121212")


def test_refusing_a_move_changes_nothing():
    board = Board.from_moves("444444")
    before = board.to_flat()
    with pytest.raises(BoardError):
        board.play(3)
    assert board.to_flat() == before


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([0] * 41, "has 42 cells, not 41"),
        ([0] * 41 + [3], "cell 3 in column 7"),
        ([1] + [0] * 41, "hangs in the air"),
    ],
)
def test_flat_boards_are_refused_by_name(cells, message):
    with pytest.raises(BoardError, match=message):
        Board.from_flat(cells)


@pytest.mark.parametrize("size", [(0, 7, 4), (6, -1, 4), (6, 7, 0)])
def test_sizes_below_one_are_refused(size):
    with pytest.raises(BoardError, match="must be at least 1"):
        Board(*size)


def test_turn_is_read_off_the_discs_or_taken_from_kaggle():
    one = [0] * 41 + [1]
    assert Board.from_flat([0] * 42).turn == 1
    assert Board.from_flat(one).turn == 2
    observation = SimpleNamespace(board=[0] * 42, mark=2)
    assert Board.from_kaggle(observation, SimpleNamespace(rows=6, columns=7, inarow=4)).turn == 2


@given(st.lists(st.integers(0, 30), max_size=40))
def test_move_strings_round_trip(moves):
    assert parse_moves(format_moves(moves)) == moves


@pytest.mark.parametrize(
    ("text", "moves"), [("", []), ("4453", [3, 3, 4, 2]), ("12,", [11]), ("12", [0, 1]), ("10,4", [9, 3])]
)
def test_move_strings(text, moves):
    assert parse_moves(text) == moves
    assert format_moves(moves) == text


@pytest.mark.parametrize("text", ["0", "4a", "4 5", "1,,2", "1,-2", "٣", "1.5", ","])
def test_what_is_no_move_string_is_refused(text):
    with pytest.raises(BoardError, match="is not a column"):
        parse_moves(text)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_mirror(size):
    rows, columns, _ = size
    for board in random_game(size, random.Random(1)):
        twin = board.mirror()
        assert twin.mirror() == board
        assert (twin.winner, twin.ply, twin.turn) == (board.winner, board.ply, board.turn)
        cells = board.to_flat()
        assert twin.to_flat() == [
            cells[r * columns + columns - 1 - c] for r in range(rows) for c in range(columns)
        ]


def test_equality_is_about_the_position_not_the_way_there():
    assert Board.from_moves("123") == Board.from_moves("321")
    assert Board.from_moves("12") != Board.from_moves("21")
    assert Board(6, 7, 4) != Board(6, 7, 5)
    assert Board() != "board"


def test_text_display():
    board = Board.from_moves("4453", rows=3)
    assert str(board) == ". . . . . . .\n. . . O . . .\n. . O X X . .\n1 2 3 4 5 6 7"
    assert repr(board) == "<Board 3x7 inarow 4: ply 4, X to move>"
    assert str(Board(1, 10)) == " .  .  .  .  .  .  .  .  .  .\n 1  2  3  4  5  6  7  8  9 10"


def test_svg_marks_the_last_move_and_the_winning_line():
    picture = Board.from_moves("4545454")._repr_svg_()
    root = ET.fromstring(picture)
    tag = "{http://www.w3.org/2000/svg}"
    discs = root.findall(f"{tag}circle")
    assert sum(disc.get("stroke") is not None for disc in discs) == 4
    last = [disc for disc in discs if disc.get("class") == "last"]
    assert [(disc.get("cx"), disc.get("cy")) for disc in last] == [("140", "111")]
    assert root.find(f"{tag}title").text == "Board at ply 7, X has won"
    assert len(discs) == 42 + 1
    empty = ET.fromstring(Board()._repr_svg_())
    assert not [disc for disc in empty.findall(f"{tag}circle") if disc.get("class") == "last"]


@pytest.mark.parametrize(("rows", "columns"), [(6, 7), (5, 5)])
def test_the_score_of_a_win_counts_the_own_discs_left_and_the_winning_one(rows: int, columns: int) -> None:
    shape = Board(rows, columns, 4).geometry
    for disc in range(1, rows * columns + 1):
        assert shape.win_score(disc) == len(range(disc, rows * columns + 1, 2))


def test_a_size_has_one_geometry_whatever_comes_between_and_however_boards_are_copied() -> None:
    """The book and the core tell sizes apart by it."""
    board = Board().play(3)
    for rows in range(1, 400):
        Board(rows, 3, 3)
    for other in (Board(), copy.deepcopy(board), pickle.loads(pickle.dumps(board))):
        assert other.geometry is board.geometry
    assert copy.deepcopy(board) == board
