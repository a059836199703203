"""`python -m engine book verify`: what it finds, and what it cannot read."""

import random

import pytest

from engine import __main__ as command
from engine.board import Board
from engine.book import Book, book_index, book_key, book_size


@pytest.fixture(scope="module")
def book() -> Book:
    return Book.load()


@pytest.fixture
def verify(tmp_path, capsys):
    def verified(book: Book) -> tuple[int, str, str]:
        path = tmp_path / "book.bin"
        path.write_bytes(book.pack())
        status = command.main(["book", "verify", "--count", "2", "--file", str(path)])
        return status, *capsys.readouterr()

    return verified


def small(book: Book) -> dict[int, bytes]:
    """Scores that are quickly checked."""
    return {ply: book.layers[ply] for ply in (4, 6)}


def test_a_right_book(verify, book: Book) -> None:
    answers = {9: dict(random.Random(0).sample(sorted(book.answers[9].items()), 5))}
    columns = dict(random.Random(0).sample(sorted(book.columns.items()), 5))
    status, out, err = verify(Book(small(book), answers, columns))
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "ply 4: 568 of 568 looked at, 0 wrong",
        "ply 6: 2 of 8,231 looked at, 0 wrong",
        "columns of ply 9: 2 of 5 looked at, 0 wrong",
        "other columns: 2 of 5 looked at, 0 wrong",
        "nothing is wrong",
    ]


def test_a_wrong_score_of_an_inner_ply_is_found_wherever_it_is(verify, book: Book) -> None:
    layers = small(book)
    wrong = book_index(Board.from_moves("4455"))
    layers[4] = bytes(score + (index == wrong) for index, score in enumerate(layers[4]))
    status, out, _ = verify(Book(layers))
    assert (status, out.splitlines()[-1]) == (1, "1 wrong")
    assert "ply 4: its score is" in out


def test_wrong_scores_of_the_last_ply(verify, book: Book) -> None:
    status, out, _ = verify(Book({6: bytes(book_size(6))}))
    assert (status, out.splitlines()[-1]) == (1, "2 wrong")
    assert "-32 in the book" in out


def test_wrong_columns(verify, book: Book) -> None:
    """A first disc in the middle wins; the mirror image of a listed column is right or wrong as well."""
    listed = Book(small(book), {2: {}}, {})
    listed.list_column(Board.from_moves("44"), 0)
    listed.list_column(Board.from_moves("4444"), 6)
    status, out, _ = verify(listed)
    assert (status, out.splitlines()[-1]) == (1, "2 wrong")
    assert "columns of ply 2: column 1 is listed and not best" in out
    assert "other columns: column 7 is listed and not best" in out


def test_an_ended_game_is_no_position_to_list(verify, book: Book) -> None:
    won = Board.from_moves("1212121")
    status, out, _ = verify(Book(small(book), {}, {book_key(won): 3}))
    assert status == 1
    assert "no move of this position can be listed" in out


@pytest.mark.parametrize(
    ("layers", "answers", "columns", "words"),
    [
        ({2: bytes(3)}, {}, {}, "not 3 positions of ply 2"),
        ({60: bytes(3)}, {}, {}, "positions of ply 60"),
        ({0: bytes(1)}, {9: {10**9: 3}}, {}, "a position of ply 9 that there is not"),
        ({0: bytes(1)}, {60: {1: 3}}, {}, "a position of ply 60 that there is not"),
        ({0: bytes(1)}, {}, {2**50: 3}, "that there is not"),
    ],
)
def test_what_no_book_has(verify, layers, answers, columns, words) -> None:
    status, _, err = verify(Book(layers, answers, columns))
    assert status == 2
    assert "is no book: " in err
    assert words in err


@pytest.mark.parametrize(("file", "words"), [("nowhere.bin", "cannot read"), (__file__, "is no book")])
def test_what_cannot_be_read_is_named_in_one_line(capsys, file, words) -> None:
    assert command.main(["book", "verify", "--file", file]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1
    assert words in printed.err
