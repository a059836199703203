"""Makes the opening book: `python -m engine book build`; `engine.book_check` verifies it.

Every position of the book's last ply is solved by the native core; the plies before follow from it. Then
best columns are found for later positions that take long. Positions with the same beginning are solved one
after the other, as they share much of their search. What is solved is kept (see `engine.book_work`), so that
building can be stopped at any time and goes on from there. Scores are exact, and what a position takes is
measured with an empty table: whatever the order, the processes and the stops, the book comes out the same,
byte for byte.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from engine.board import Board
from engine.book import SCORE_OFFSET, Book, book_index, book_size
from engine.book_check import verify
from engine.book_positions import children, positions
from engine.book_work import Unit, solve_all
from engine.console import UsageError
from engine.native.solver import NativeSolver
from engine.oracle import Oracle, from_the_middle
from engine.search import forced_moves


class Hard(NamedTuple):
    """Which positions of a ply have their column listed, in nodes that they take with an empty table."""

    nodes: int
    of_parent: int  # they are looked for where one of the positions before took so many; 0 for everywhere


BOOK_FILE = Path(__file__).with_name("book.bin")
LAYERS_APART = 2  # plies between those whose scores are kept
HARD = {
    8: Hard(1_000_000, 0),
    9: Hard(1_000_000, 0),
    10: Hard(1_500_000, 1_000_000),
    11: Hard(2_000_000, 2_000_000),
}
PLACED = (8, 9, 10, 11)  # plies of which so many are listed that they are named by their place
LONG_NODES = 300_000  # 17 ms; for positions that perfect play leads to
SHARED = 4  # plies from the beginning that positions solved together have in common to their own


def units(names: Iterable[str]) -> list[Unit]:
    """Positions of one ply, in order, those together that begin alike."""
    return [
        list(group)
        for _, group in groupby(names, lambda moves: moves[: len(moves) - min(SHARED, len(moves) // 2)])
    ]


@dataclass
class Scores:
    """Finds the exact scores of positions."""

    @cached_property
    def solver(self) -> NativeSolver:
        """Its table fills from unit to unit."""
        return NativeSolver()

    def __call__(self, unit: Unit) -> list[int]:
        """The scores, from the side to move."""
        return [self.solver.score(Board.from_moves(moves)) for moves in unit]


class Answer(NamedTuple):
    """What a position takes, and a best column, 0-based."""

    nodes: int
    column: int

    def number(self) -> int:
        """Both in one."""
        return self.nodes << 3 | self.column

    @classmethod
    def of(cls, number: int) -> Answer:
        """The one that has this number."""
        return cls(number >> 3, number & 7)


@dataclass
class Answers:
    """Finds an `Answer` to every position, as its number, with the scores of the first plies known."""

    layers: dict[int, bytes]

    @cached_property
    def oracle(self) -> Oracle:
        """It knows no columns: what it needs for a position depends on nothing else."""
        return Oracle(6, 7, 4, 64, Book(self.layers))

    def __call__(self, unit: Unit) -> list[int]:
        """The numbers of the answers."""
        return [self.answer(Board.from_moves(moves)).number() for moves in unit]

    def answer(self, board: Board) -> Answer:
        """The column that `perfect` finds."""
        if forced := forced_moves(board):
            return Answer(0, forced[0])
        self.oracle.solver.forget()
        self.oracle.nodes = 0
        column = self.oracle.best_column(board, leisure=0)
        return Answer(self.oracle.nodes, column)


class Choice(NamedTuple):
    """The columns that `perfect` may choose, 0-based, and whether it takes long to find the first of them."""

    columns: list[int]
    long: bool

    def number(self) -> int:
        """Both in one."""
        return self.long << 7 | sum(1 << column for column in self.columns)

    @classmethod
    def of(cls, number: int) -> Choice:
        """The one that has this number."""
        return cls([column for column in range(7) if number >> column & 1], bool(number >> 7))


class Choices(Answers):
    """Finds the `Choice` of `perfect` in every position, as its number."""

    def __call__(self, unit: Unit) -> list[int]:
        """The numbers of the choices."""
        return [self.choice(Board.from_moves(moves)).number() for moves in unit]

    def choice(self, board: Board) -> Choice:
        """Where finding a best column takes long, there is time now for the one that is hardest to meet."""
        oracle = self.oracle
        if forced := forced_moves(board):
            return Choice([forced[0]], False)
        if board.ply + 2 <= max(self.layers):
            return Choice([oracle.best_column(board)], False)
        answer = self.answer(board)
        if answer.nodes > LONG_NODES:
            return Choice([oracle.best_column(board)], True)
        score = oracle.score(board)
        best = [column for column in from_the_middle(board) if oracle.reaches(board, column, score)]
        return Choice(best, False)


def make_book(plies: int, jobs: int, file: Path, listed: int) -> Book:
    """The book: scores to ply `plies`, and best columns of positions that take long, to ply `listed`.

    `jobs` processes solve; what they find is kept in files named after `file`.
    """
    path = _work_file(file, plies, "scores")
    known: Mapping[str, int | None] = solve_all(
        Scores(), units(positions(plies)), jobs, path, f"scores of ply {plies}"
    )
    book = Book({plies: _layer(plies, known)})
    for ply in range(plies - LAYERS_APART, -1, -LAYERS_APART):
        known = {moves: book.score(Board.from_moves(moves)) for moves in positions(ply)}
        book = Book({**book.layers, ply: _layer(ply, known)})
    if listed:
        book.answers = {ply: {} for ply in PLACED if ply <= listed}
        list_own_lines(book, jobs, file, listed)
        list_hard(book, jobs, file, listed)
    return book


def list_own_lines(book: Book, jobs: int, file: Path, last: int) -> None:
    """Lists the positions that take a little long and that perfect play can lead to, up to a ply."""
    for turn in (1, 2):
        names = [""]
        for ply in range(last + 1):
            chosen = None
            if 1 + ply % 2 == turn:
                path = _work_file(file, ply, "choices")
                numbers = solve_all(
                    Choices(book.layers), units(names), jobs, path, f"moves of `perfect` at ply {ply}"
                )
                choices = {moves: Choice.of(number) for moves, number in numbers.items()}
                for moves, choice in choices.items():
                    if choice.long:
                        book.list_column(Board.from_moves(moves), choice.columns[0])
                chosen = {moves: choice.columns for moves, choice in choices.items()}
            names = children(names, chosen)


def list_hard(book: Book, jobs: int, file: Path, last: int) -> None:
    """Lists the positions that take long, from whatever game, up to a ply.

    Later ones are looked for where a position before takes long too: of 16 that take 3 million nodes, among
    3,500 random positions of ply 10, each has one before it that takes 2 million.
    """
    answers: dict[str, Answer] = {}
    for ply, hard in HARD.items():
        if ply <= last:
            parents = [moves for moves, answer in answers.items() if answer.nodes >= hard.of_parent]
            names = children(parents) if hard.of_parent else positions(ply)
            path = _work_file(file, ply, "answers")
            numbers = solve_all(
                Answers(book.layers), units(names), jobs, path, f"answers to positions of ply {ply}"
            )
            answers = {moves: Answer.of(number) for moves, number in numbers.items()}
            for moves, answer in answers.items():
                board = Board.from_moves(moves)
                if answer.nodes >= hard.nodes and book.column(board) is None:
                    book.list_column(board, answer.column)


def _work_file(file: Path, ply: int, what: str) -> Path:
    return file.with_suffix(f".{ply}.{what}")


def _layer(ply: int, scores: Mapping[str, int | None]) -> bytes:
    """The scores of a ply in the book's order; entries that no game reaches repeat the one before."""
    known = {book_index(Board.from_moves(moves)): score for moves, score in scores.items()}
    kept, last = bytearray(book_size(ply)), 0
    for index in range(len(kept)):
        last = known.get(index) or (0 if index in known else last)
        kept[index] = last + SCORE_OFFSET
    return bytes(kept)


def build(options: argparse.Namespace) -> int:
    """Solves the positions of the first plies and writes the book; goes on where it was stopped.

    The kit's own takes about four hours on two processors.
    """
    file: Path = options.file
    if file.is_dir():
        raise UsageError(f"{file} is a folder: name a file")
    if not os.access(file.parent, os.W_OK):
        raise UsageError(f"cannot write into {file.parent}: name a file in another folder")
    try:
        packed = make_book(options.plies, options.jobs, file, options.listed).pack()
        part = file.with_name(f"{file.name}.part")
        part.write_bytes(packed)
        part.replace(file)
    except OSError as error:
        raise UsageError(
            f"cannot write {error.filename or file}: {error.strerror}; name another file"
        ) from None
    except BrokenProcessPool:
        raise UsageError(f"a process was killed, maybe for its memory; {_kept(file)}") from None
    except KeyboardInterrupt:
        print(_kept(file), file=sys.stderr)
        raise
    print(f"{file}: {options.plies} plies, {len(packed):,} bytes; the files beside it may go")
    return 0


def _kept(file: Path) -> str:
    return f"what is solved is kept beside {file}: the same command goes on"


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds `book` to the commands of `python -m engine`."""
    about = (
        "The opening book: exact scores of the first plies, best columns of later positions that take long."
    )
    book = commands.add_parser("book", help="make or check the opening book", description=about)
    actions = book.add_subparsers(required=True, metavar="ACTION")
    made = actions.add_parser("build", help="make it", description=build.__doc__)
    made.add_argument(
        "--plies", type=_number(1, 12), default=8, help="the last ply with all scores (default: %(default)s)"
    )
    made.add_argument(
        "--listed",
        type=_number(0, 41),
        default=13,
        help="the last ply with columns of positions that take long; 0 for none (default: %(default)s)",
    )
    made.add_argument(
        "--jobs",
        type=_number(1, 1024),
        default=os.cpu_count() or 1,
        help="processes (default: one for each processor, here %(default)s)",
    )
    made.set_defaults(run=build)
    checked = actions.add_parser("verify", help="check it", description=verify.__doc__)
    checked.add_argument(
        "--count",
        type=_number(1, 10**9),
        default=100,
        help="positions solved anew of the last ply and of each list of columns (default: %(default)s)",
    )
    checked.set_defaults(run=verify)
    for each in (made, checked):
        each.add_argument("--file", type=Path, default=BOOK_FILE, help="the book (default: the kit's own)")


def _number(least: int, most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r}: write a number from {least} to {most}")
        return int(text)

    return number
