"""The opening book: its places, and what it holds."""

import random

import pytest

from engine.board import Board
from engine.book import Book, book_index, book_key, book_size
from engine.book_build import PLACED
from engine.book_positions import board_at, board_of_key, positions
from engine.native.solver import NativeSolver


@pytest.fixture(scope="module")
def book() -> Book:
    return Book.load()


def random_board(plies: int, rng: random.Random) -> Board:
    """A position whose game goes on."""
    while True:
        board = Board()
        while board.ply < plies and not board.winner:
            board = board.play(rng.choice(board.legal_moves()))
        if not board.winner:
            return board


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
    assert len(book.columns) > 500


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


def test_answers_are_best_and_those_of_the_mirror_image_too(book: Book) -> None:
    solver, rng = NativeSolver(), random.Random(5)
    assert tuple(book.answers) == PLACED
    for ply, answers in book.answers.items():
        for index in rng.sample(sorted(answers), 6):
            board = board_at(ply, index)
            column = book.column(board)
            assert column in solver.best_columns(board)[1]
            assert book.column(board.mirror()) == (column if board == board.mirror() else 6 - column)


def test_listed_columns_are_best_and_listed_for_the_mirror_image_too(book: Book) -> None:
    solver = NativeSolver()
    for key in random.Random(4).sample(sorted(book.columns), 20):
        board = board_of_key(key)
        column = book.column(board)
        assert column in solver.best_columns(board)[1]
        assert book.column(board.mirror()) == (column if board == board.mirror() else 6 - column)
    assert book.column(Board()) is None


@pytest.mark.parametrize("packed", [b"", b"\0", b"\1\1", b"\1\1garbage", b"\5\1\2\3"])
def test_other_bytes_are_no_book(packed: bytes) -> None:
    with pytest.raises(ValueError, match=r"length|input|data|Corrupt|not enough"):
        Book.unpack(packed)
