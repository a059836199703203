"""Checks the opening book: `python -m engine book verify`."""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import TypeVar

from engine.board import Board
from engine.book import Book, book_key, book_size
from engine.book_positions import board_at, board_of_key, positions
from engine.console import Progress, UsageError
from engine.native.solver import NativeSolver

Name = TypeVar("Name", str, int)
DEEPEST = 14  # a ply beyond would take memory without end
Fault = Callable[[Board], str]
"""What is wrong with what a book says of a position; empty if nothing is."""


def verify(options: argparse.Namespace) -> int:
    """Looks whether the plies of a book follow from one another, and solves some of its positions anew."""
    try:
        book = Book.unpack(options.file.read_bytes())
        _measure(book)
    except OSError as error:
        raise UsageError(f"cannot read {options.file}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{options.file} is no book: {error}") from None
    solver = NativeSolver()
    wrong = sum([*_plies(book, solver, options.count), *_columns(book, solver, options.count)])
    print(f"{wrong:,} wrong" if wrong else "nothing is wrong")
    return 1 if wrong else 0


def _measure(book: Book) -> None:
    """Raises `ValueError` for sizes that no book has."""
    for ply, scores in book.layers.items():
        if ply > DEEPEST or len(scores) != book_size(ply):
            raise ValueError(f"there are not {len(scores):,} positions of ply {ply}")
    for ply, answers in book.answers.items():
        if ply > DEEPEST or max(answers, default=0) >= book_size(ply):
            raise ValueError(f"it lists a position of ply {ply} that there is not")
    for key in book.columns:
        if book_key(board_of_key(key)) != key:
            raise ValueError(f"it lists a position of key {key} that there is not")


def _plies(book: Book, solver: NativeSolver, count: int) -> Iterator[int]:
    """How many scores of each ply are wrong: all must follow from the next; of the last some are solved."""
    for ply, after in pairwise(sorted(book.layers)):
        names = positions(ply)
        later = Book({after: book.layers[after]})
        yield _look(f"ply {ply}", names, len(names), Board.from_moves, partial(_of_score, book, later.score))
    names = positions(book.plies)
    fault = partial(_of_score, book, solver.score)
    yield _look(f"ply {book.plies}", names, count, Board.from_moves, fault)


def _of_score(book: Book, find: Callable[[Board], int | None], board: Board) -> str:
    score, kept = find(board), book.score(board)
    return "" if kept == score else f"its score is {score}, {kept} in the book"


def _columns(book: Book, solver: NativeSolver, count: int) -> Iterator[int]:
    """How many of the listed columns are not best, list for list, of so many."""
    fault = partial(_of_column, book, solver)
    for ply, answers in book.answers.items():
        yield _look(f"columns of ply {ply}", list(answers), count, partial(board_at, ply), fault)
    yield _look("other columns", list(book.columns), count, board_of_key, fault)


def _of_column(book: Book, solver: NativeSolver, board: Board) -> str:
    column = book.column(board)
    if board.is_over or column not in board.legal_moves():
        return "no move of this position can be listed"
    if not solver.reaches(board, column, solver.score(board)):
        return f"column {column + 1} is listed and not best"
    return ""


def _look(what: str, names: list[Name], count: int, find: Callable[[Name], Board], fault: Fault) -> int:
    """How many positions have a fault, of so many of those that `find` finds by name; each is shown."""
    chosen = random.Random(0).sample(names, min(count, len(names)))
    progress = Progress(len(chosen))
    wrong = 0
    for board in map(find, chosen):
        if said := fault(board):
            wrong += 1
            progress.clear()
            print(f"{what}: {said}\n{board}")
        progress.step()
    progress.clear()
    print(f"{what}: {len(chosen):,} of {len(names):,} looked at, {wrong:,} wrong", flush=True)
    return wrong
