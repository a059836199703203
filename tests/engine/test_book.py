"""The opening book: its places, what it holds, how it is made and checked."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine import __main__ as command
from engine import book_build
from engine.board import Board, format_moves
from engine.book import Book, book_index, book_key, book_size
from engine.book_build import (
    LISTED,
    PLACED,
    WorkFile,
    answer_unit,
    board_at,
    board_of_key,
    children,
    list_columns,
    positions,
    units,
)
from engine.native.solver import NativeSolver
from engine.oracle import Oracle

ROOT = Path(__file__).parent.parent.parent
# Distinct positions after 0 to 8 plies (OEIS A212693).
COUNTS = (1, 7, 49, 238, 1120, 4263, 16422, 54859)


@pytest.fixture(scope="module")
def book() -> Book:
    return Book.load()


def random_moves(plies: int, rng: random.Random) -> str:
    """Moves to a position whose game goes on."""
    while True:
        board, moves = Board(), ""
        while board.ply < plies and not board.winner:
            column = rng.choice(board.legal_moves())
            board, moves = board.play(column), moves + format_moves([column])
        if not board.winner:
            return moves


def random_board(plies: int, rng: random.Random) -> Board:
    """A position whose game goes on."""
    return Board.from_moves(random_moves(plies, rng))


def name(board: Board) -> tuple[int, int]:
    mirror = board.mirror()
    return min((board.own, board.other), (mirror.own, mirror.other))


@pytest.mark.parametrize("plies", range(8))
def test_positions_are_all_positions_and_none_twice(plies: int) -> None:
    boards = [Board.from_moves(moves) for moves in positions(plies)]
    names = {name(board) for board in boards}
    assert len(names) == len(boards)
    assert not any(board.winner for board in boards)
    mirrored = {(board.own, board.other) for board in boards} | {
        (board.mirror().own, board.mirror().other) for board in boards
    }
    lost = {
        (child.own, child.other)
        for moves in (positions(plies - 1) if plies else [])
        for board in (Board.from_moves(moves), Board.from_moves(moves).mirror())
        for child in map(board.play, board.legal_moves())
        if child.winner
    }
    assert len(mirrored) + len(lost) == COUNTS[plies]


@pytest.mark.parametrize("plies", range(8))
def test_every_position_has_a_place_of_its_own_that_its_mirror_image_shares(plies: int) -> None:
    places = {}
    for moves in positions(plies):
        board = Board.from_moves(moves)
        places[book_index(board)] = moves
        assert book_index(board) == book_index(board.mirror())
    assert len(places) == len(positions(plies))
    assert 0 <= min(places) <= max(places) < book_size(plies)


def test_scores_of_the_first_moves(book: Book) -> None:
    assert book.score(Board()) == 1
    assert [book.score(Board().play(column)) for column in range(7)] == [2, 1, 0, -1, 0, 1, 2]


def test_the_book_is_right_where_it_holds_a_position(book: Book) -> None:
    solver, rng = NativeSolver(), random.Random(1)
    checked = 0
    for plies in range(book.plies, book.plies - 4, -1):
        for _ in range(5):
            board = random_board(plies, rng)
            assert book.score(board) == book.score(board.mirror()) == solver.score(board)
            checked += 1
    assert checked == 20


def test_no_score_past_the_book_of_ended_games_and_of_other_boards(book: Book) -> None:
    assert book.score(random_board(book.plies + 1, random.Random(2))) is None
    assert book.score(Board.from_moves("1212121")) is None
    assert book.score(Board(6, 8, 4)) is None


def test_packed_and_unpacked(book: Book) -> None:
    copy = Book.unpack(book.pack())
    assert (copy.layers, copy.answers, copy.columns) == (book.layers, book.answers, book.columns)
    assert len(book.columns) > 1000


def test_a_position_from_its_key() -> None:
    rng = random.Random(3)
    for plies in range(40):
        board = random_board(plies, rng)
        assert board_of_key(book_key(board)) == board


def test_a_position_from_its_place() -> None:
    rng = random.Random(6)
    for plies in range(12):
        board = random_board(plies, rng)
        assert board_at(plies, book_index(board)) in (board, board.mirror())


def test_children_are_the_positions_one_move_later() -> None:
    assert children(positions(4)) == positions(5)
    assert children(["121212", "44"]) == [
        "1212122",
        "1212123",
        "1212124",
        "1212125",
        "1212126",
        "1212127",
    ] + [f"44{column}" for column in "1234"]


def test_answers_are_best_and_those_of_the_mirror_image_too(book: Book) -> None:
    solver, rng = NativeSolver(), random.Random(5)
    assert tuple(book.answers) == PLACED
    for ply, answers in book.answers.items():
        for index in rng.sample(sorted(answers), 15):
            board = board_at(ply, index)
            column = book.column(board)
            assert column in solver.best_columns(board)[1]
            assert book.column(board.mirror()) == (column if board == board.mirror() else 6 - column)


@pytest.mark.parametrize("plies", [8, 9])
def test_positions_that_take_long_have_an_answer(book: Book, monkeypatch, plies: int) -> None:
    """What a position takes does not depend on what was solved before; that is why books are the same."""
    monkeypatch.setattr(book_build, "_oracle", lambda: oracle)
    oracle = Oracle(6, 7, 4, 64, Book(book.layers))
    rng = random.Random(7)
    names = [random_moves(plies, rng) for _ in range(25)]
    found = answer_unit(names)
    assert found == answer_unit(names[::-1])[::-1]
    slow = [moves for moves, number in zip(names, found, strict=True) if number >> 3 >= LISTED[plies][0]]
    assert slow
    assert None not in [book.column(Board.from_moves(moves)) for moves in slow]


def test_listed_columns_are_best_and_listed_for_the_mirror_image_too(book: Book) -> None:
    solver = NativeSolver()
    for key in random.Random(4).sample(sorted(book.columns), 40):
        board = board_of_key(key)
        column = book.column(board)
        assert column in solver.best_columns(board)[1]
        assert book.column(board.mirror()) == (column if board == board.mirror() else 6 - column)
    assert book.column(Board()) is None


def test_columns_are_listed_where_perfect_play_leads(book: Book) -> None:
    """The list of a shorter walk is a part of the book's."""
    short = Book(book.layers)
    list_columns(short, 8)
    assert short.columns
    boards = [board_of_key(key) for key in short.columns]
    assert {board.ply for board in boards} == {8}
    assert [book.column(board) for board in boards] == list(short.columns.values())


@pytest.mark.parametrize("packed", [b"", b"\0", b"\1\1", b"\1\1garbage", b"\5\1\2\3"])
def test_other_bytes_are_no_book(packed: bytes) -> None:
    with pytest.raises(ValueError, match=r"length|input|data|Corrupt|not enough"):
        Book.unpack(packed)


def in_work(plies: int, path: Path, book: Book, left: int) -> WorkFile:
    """A work file in which all is solved but the smallest units."""
    work = WorkFile(path)
    for unit in sorted(units(positions(plies)), key=len)[left:]:
        scores = [book.score(Board.from_moves(moves)) for moves in unit]
        work.append(unit, [score for score in scores if score is not None])
    return work


def test_building_goes_on_from_any_stop_and_gives_the_same_bytes(tmp_path, capsys, book: Book) -> None:
    """A line cut short by a kill, and what is no line of the book, do not matter."""
    solved = in_work(7, tmp_path / "solved", book, 2).path.read_text()
    made = []
    for number, tail in enumerate(("", "777777\nnonsense 1\n\n777777 1 2")):
        path = tmp_path / f"book{number}.bin"
        path.with_suffix(".7.scores").write_text(solved + tail)
        build = ["book", "build", "--plies", "7", "--jobs", "2", "--listed", "0", "--file", str(path)]
        assert command.main(build) == 0
        made.append(path.read_bytes())
        assert "7 plies" in capsys.readouterr().out
    assert made[0] == made[1]
    assert Book.unpack(made[0]).score(Board.from_moves("4444")) == book.score(Board.from_moves("4444"))
    assert command.main(["book", "verify", "--count", "3", "--file", str(path)]) == 0


def test_verify_names_a_wrong_score(tmp_path, capsys, book: Book) -> None:
    layers = {7: bytes(book_size(7))} | {4: bytes(book_size(4))}
    path = tmp_path / "wrong.bin"
    path.write_bytes(Book(layers).pack())
    assert command.main(["book", "verify", "--count", "1", "--file", str(path)]) == 1
    assert "by the solver, -32 in the book" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["build", "--plies", "1", "--listed", "0", "--file", "nowhere/at/all.bin"], "nowhere/at"),
        (["verify", "--file", "nowhere.bin"], "cannot read nowhere.bin"),
        (["verify", "--file", __file__], "is no book"),
    ],
)
def test_what_cannot_be_used_is_named_in_one_line(capsys, arguments, words) -> None:
    assert command.main(["book", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1
    assert words in printed.err


def test_ctrl_c_keeps_what_is_solved(tmp_path, book: Book) -> None:
    path = tmp_path / "book.bin"
    work = in_work(8, path.with_suffix(".8.scores"), book, 60)
    before = work.path.read_bytes()
    command = [sys.executable, "-m", "engine", "book", "build", "--plies", "8", "--jobs", "1"]
    with subprocess.Popen(
        [*command, "--file", str(path)], cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        while len(work.path.read_bytes()) == len(before) and process.poll() is None:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "the same command goes on" in said
    assert "Traceback" not in said
    after = work.path.read_bytes()
    assert after.startswith(before)
    assert after.endswith(b"\n")
