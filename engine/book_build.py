"""Makes and checks the opening book: `python -m engine book build` and `verify`.

Every position of the book's last ply is solved by the native core; the plies before follow from it. Positions
with the same beginning are solved one after the other, as they share much of their search. What is solved is
appended to a work file, so that building can be stopped at any time and goes on from there. Scores are exact:
whatever the order, the processes and the stops, the book comes out the same, byte for byte.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from itertools import groupby
from math import comb
from multiprocessing import get_context
from operator import itemgetter
from pathlib import Path

from engine.board import Board, format_moves
from engine.book import BOOK_SHAPE, SCORE_OFFSET, Book, book_blocks, book_index, book_size
from engine.console import Progress, UsageError
from engine.native.solver import NativeSolver
from engine.oracle import Oracle, from_the_middle
from engine.search import forced_moves

BOOK_FILE = Path(__file__).with_name("book.bin")
LAYERS_APART = 2  # plies between those that are kept
# Plies all of whose positions that take so many nodes are listed, wherever they come from, and the nodes that
# the parents of those take; 0 where it can be any parent.
LISTED = {8: (1_000_000, 0), 9: (1_000_000, 0), 10: (2_000_000, 2_000_000), 11: (3_000_000, 3_000_000)}
PLACED = (8, 9, 10)  # plies of which so many are listed that they are named by their place
COUNTED = 3_000_000  # nodes beyond which it does not matter how many
LONG_NODES = 300_000  # 17 ms; for those that perfect play leads to
SHARED = 4  # plies from the beginning that positions solved together have in common to their own
Unit = list[str]  # move strings of positions that are solved together


def positions(plies: int) -> list[str]:
    """A move string to every position after `plies` moves whose game goes on, mirror images taken as one.

    In the order of the strings. After 8 plies there are 91,295, after 9 269,531.
    """
    names = [""]
    for _ in range(plies):
        names = children(names)
    return names


def children(names: Iterable[str]) -> list[str]:
    """The positions one move later whose game goes on, of mirror images one, in order of their strings."""
    found: dict[tuple[int, int], str] = {}
    for moves in names:
        board = Board.from_moves(moves)
        for column in board.legal_moves():
            child = board.play(column)
            if not child.winner:
                found.setdefault(_canonical(child), moves + format_moves([column]))
    return sorted(found.values())


def _canonical(board: Board) -> tuple[int, int]:
    mirror = board.mirror()
    return min((board.own, board.other), (mirror.own, mirror.other))


def units(names: Iterable[str]) -> list[Unit]:
    """Positions of one ply, in order, those together that begin alike."""
    return [
        list(group) for _, group in groupby(names, key=lambda moves: moves[: max(len(moves) - SHARED, 0)])
    ]


@cache
def _solver() -> NativeSolver:
    """The solver of this process, whose table fills from unit to unit."""
    return NativeSolver()


_layers: dict[int, bytes] = {0: bytes(1)}  # scores that the oracle of this process knows; nothing by default


@cache
def _oracle() -> Oracle:
    """It knows scores and no columns: what it needs for a position depends on nothing else."""
    return Oracle(6, 7, 4, 64, Book(_layers))


def solve_unit(unit: Unit) -> list[int]:
    """The exact scores of positions."""
    return [_solver().score(Board.from_moves(moves)) for moves in unit]


def answer_unit(unit: Unit) -> list[int]:
    """For each position 8 * the nodes that `perfect` takes, at most `COUNTED`, + the column it finds."""
    return [_answer(Board.from_moves(moves)) for moves in unit]


def _answer(board: Board) -> int:
    if forced := forced_moves(board):
        return forced[0]
    oracle = _oracle()
    oracle.solver.forget()
    oracle.nodes = 0
    column = oracle.best_column(board, leisure=0)
    return min(oracle.nodes, COUNTED) * 8 + column


def _begin_process(layers: dict[int, bytes]) -> None:
    """Ends silently at Ctrl-C: what to do then is for the one that started it. `layers`: what is known."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _layers.update(layers)


class WorkFile:
    """Solved units, a line each: the first position of the unit, and its scores."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, wanted: list[Unit]) -> dict[str, list[int]]:
        """What was solved of `wanted`, by a unit's first position. A line cut short by a kill is left out."""
        sizes = {unit[0]: len(unit) for unit in wanted}
        found = {}
        if self.path.exists():
            for line in self.path.read_text(encoding="ascii").splitlines(keepends=True):
                words = line.split()
                if line.endswith("\n") and words and len(words) - 1 == sizes.get(words[0]):
                    found[words[0]] = [int(score) for score in words[1:]]
        return found

    def append(self, unit: Unit, scores: list[int]) -> None:
        """Adds a unit, and sees to it that it is on the disk."""
        with self.path.open("ab") as file:
            if file.tell() and self.path.read_bytes()[-1:] != b"\n":
                file.write(b"\n")
            file.write(f"{unit[0]} {' '.join(map(str, scores))}\n".encode())
            file.flush()
            os.fsync(file.fileno())


def solve_all(
    solve: Callable[[Unit], list[int]],
    wanted: list[Unit],
    jobs: int,
    work: WorkFile,
    layers: dict[int, bytes] | None = None,
) -> dict[str, int]:
    """What `solve` finds for every position, by its moves; `layers` are scores that it may use."""
    done = work.read(wanted)
    left = [unit for unit in wanted if unit[0] not in done]
    total = sum(map(len, wanted))
    progress = Progress(total, done=total - sum(map(len, left)))
    with ProcessPoolExecutor(jobs, get_context("spawn"), _begin_process, (layers or {},)) as pool:
        for unit, numbers in _solved(pool, solve, left):
            work.append(unit, numbers)
            done[unit[0]] = numbers
            progress.step(len(unit))
    progress.clear()
    return {moves: number for unit in wanted for moves, number in zip(unit, done[unit[0]], strict=True)}


def _solved(
    pool: Executor, solve: Callable[[Unit], list[int]], left: list[Unit]
) -> Iterator[tuple[Unit, list[int]]]:
    running = {pool.submit(solve, unit): unit for unit in left}
    try:
        for future in as_completed(running):
            yield running.pop(future), future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def make_book(plies: int, jobs: int, work: Path, listed: int) -> Book:
    """The book: scores of the first plies, solved in `jobs` processes; answers, and columns to ply `listed`.

    Solved positions are kept in files named after `work`.
    """
    scores: Mapping[str, int | None] = solve_all(
        solve_unit, units(positions(plies)), jobs, _work_file(work, plies, "scores")
    )
    book = Book({plies: _layer(plies, scores)})
    for ply in range(plies - LAYERS_APART, -1, -LAYERS_APART):
        scores = {moves: book.score(Board.from_moves(moves)) for moves in positions(ply)}
        book = Book({**book.layers, ply: _layer(ply, scores)})
    if listed:
        book.answers = {ply: {} for ply in PLACED}
        list_columns(book, listed)
        answer(book, jobs, work)
    return book


def answer(book: Book, jobs: int, work: Path) -> None:
    """Adds a best column for positions that take long, from whatever game.

    Their parents take long too: of 16 that take 3 million nodes, among 3,500 random positions of ply 10, each
    has a parent that takes 2 million.
    """
    found: dict[str, int] = {}
    for ply, (nodes, of_parent) in LISTED.items():
        parents = [moves for moves, number in found.items() if number >> 3 >= of_parent]
        names = children(parents) if of_parent else positions(ply)
        found = solve_all(answer_unit, units(names), jobs, _work_file(work, ply, "answers"), book.layers)
        for moves, number in found.items():
            board = Board.from_moves(moves)
            if number >> 3 >= nodes and book.column(board) is None:
                book.list_column(board, number & 7)


def _work_file(work: Path, ply: int, what: str) -> WorkFile:
    return WorkFile(work.with_suffix(f".{ply}.{what}"))


def list_columns(book: Book, last: int) -> None:
    """Adds a best column for positions that take long, up to a ply: all that perfect play can lead to."""
    oracle = Oracle(6, 7, 4, 64, book)
    for turn in (1, 2):
        layer = {_canonical(Board()): Board()}
        for _ in range(last + 1):
            progress = Progress(len(layer))
            children: dict[tuple[int, int], Board] = {}
            for board in layer.values():
                moves = _played(oracle, book, board) if board.turn == turn else board.legal_moves()
                reached = (board.play(column) for column in moves)
                children.update((_canonical(child), child) for child in reached if not child.is_over)
                progress.step()
            progress.clear()
            layer = children


def _played(oracle: Oracle, book: Book, board: Board) -> Sequence[int]:
    """The columns that `perfect` may choose."""
    if forced := forced_moves(board):
        return forced[:1]
    if board.ply + 2 <= book.plies:
        return [oracle.best_column(board)]
    oracle.solver.forget()
    oracle.nodes = 0
    column = oracle.best_column(board, leisure=0)
    if oracle.nodes > LONG_NODES:
        book.list_column(board, column)
        return [column]
    score = oracle.score(board)
    return [column for column in from_the_middle(board) if oracle.reaches(board, column, score)]


def _layer(ply: int, scores: Mapping[str, int | None]) -> bytes:
    """The scores of a ply in the book's order; entries that no game reaches repeat the one before."""
    known = {book_index(Board.from_moves(moves)): score for moves, score in scores.items()}
    kept, last = bytearray(book_size(ply)), 0
    for index in range(len(kept)):
        last = known.get(index) or (0 if index in known else last)
        kept[index] = last + SCORE_OFFSET
    return bytes(kept)


def board_of_key(key: int) -> Board:
    """The position that has this `engine.book.book_key`."""
    filled = 0
    for column, cells in enumerate(BOOK_SHAPE.full_columns):
        of_column = key >> column * BOOK_SHAPE.stride & 2**BOOK_SHAPE.stride - 1
        height = (of_column + 1).bit_length() - 1
        filled |= cells & (2**height - 1) << column * BOOK_SHAPE.stride
    return _board(key - filled, filled)


def board_at(ply: int, index: int) -> Board:
    """The position that has this `engine.book.book_index`."""
    blocks = book_blocks(ply)
    heights, start = max((item for item in blocks.items() if item[1] <= index), key=itemgetter(1))
    discs = [BOOK_SHAPE.bit(row, column) for column, height in enumerate(heights) for row in range(height)]
    own, number = 0, index - start
    for chosen in range(ply // 2, 0, -1):
        place = max(place for place in range(ply) if comb(place, chosen) <= number)
        own |= discs[place]
        number -= comb(place, chosen)
    return _board(own, sum(discs))


def _board(own: int, filled: int) -> Board:
    flat = [
        0 if not filled & bit else 1 if own & bit else 2
        for row in range(BOOK_SHAPE.rows - 1, -1, -1)
        for bit in (BOOK_SHAPE.bit(row, column) for column in range(BOOK_SHAPE.columns))
    ]
    turn = 1 + filled.bit_count() % 2
    return Board.from_flat([cell and (cell if turn == 1 else 3 - cell) for cell in flat], turn=turn)


def build(options: argparse.Namespace) -> int:
    """Solves every position of a ply and writes the book; goes on where it was stopped."""
    if not os.access(options.file.parent, os.W_OK):
        raise UsageError(f"cannot write into {options.file.parent}: name a file in another folder")
    try:
        packed = make_book(options.plies, options.jobs, options.file, options.listed).pack()
        options.file.write_bytes(packed)
    except OSError as error:
        raise UsageError(f"cannot write {error.filename}: {error.strerror}; name another file") from None
    except (KeyboardInterrupt, BrokenProcessPool):
        print(f"what is solved is kept beside {options.file}: the same command goes on", file=sys.stderr)
        raise KeyboardInterrupt from None
    print(f"{options.file}: {options.plies} plies, {len(packed):,} bytes; the files beside it may go")
    return 0


def verify(options: argparse.Namespace) -> int:
    """Looks whether the plies of a book follow from one another, and solves some of its positions anew."""
    try:
        book = Book.unpack(options.file.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot read {options.file}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{options.file} is no book: {error}") from None
    solver = NativeSolver()
    wrong = 0
    for ply in book.layers:
        later = {number: scores for number, scores in book.layers.items() if number > ply}
        after = Book(later) if later else None
        everything = positions(ply)
        chosen = sorted(random.Random(ply).sample(everything, min(options.count, len(everything))))
        progress = Progress(len(chosen))
        for moves in chosen:
            board = Board.from_moves(moves)
            solver.forget()
            found: dict[str, int | None] = {"the solver": solver.score(board)}
            if after:
                found["the plies after"] = after.score(board)
            for source, score in found.items():
                if score != book.score(board):
                    wrong += 1
                    progress.clear()
                    print(f"{moves} is {score} by {source}, {book.score(board)} in the book")
            progress.step()
        progress.clear()
        print(f"ply {ply}: {len(chosen):,} of {len(everything):,} positions looked at")
    for ply, answers in book.answers.items():
        boards = [board_at(ply, index) for index in answers]
        wrong += _wrong_columns(f"answers of ply {ply}", boards, book, options.count)
    wrong += _wrong_columns("columns", [board_of_key(key) for key in book.columns], book, options.count)
    return 1 if wrong else 0


def _wrong_columns(what: str, boards: list[Board], book: Book, count: int) -> int:
    """How many of the columns listed for these positions are not best, of so many."""
    chosen = random.Random(0).sample(boards, min(count, len(boards)))
    progress = Progress(len(chosen))
    wrong = 0
    for board in chosen:
        column = book.column(board)
        if column not in _solver().best_columns(board)[1]:
            wrong += 1
            progress.clear()
            print(f"column {column} (from 0) is listed and not best:\n{board}")
        progress.step()
    progress.clear()
    print(f"{what}: {len(chosen):,} of {len(boards):,} looked at")
    return wrong


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds `book` to the commands of `python -m engine`."""
    book = commands.add_parser("book", help="make or check the opening book", description=__doc__)
    actions = book.add_subparsers(required=True, metavar="ACTION")
    made = actions.add_parser(
        "build", help="solve the positions of the first plies", description=build.__doc__
    )
    made.add_argument("--plies", type=_number, default=8, help="the last ply with all scores: 8")
    made.add_argument(
        "--listed",
        type=int,
        default=13,
        help="the last ply with columns for positions that take long; 0 for none: 13",
    )
    made.add_argument("--jobs", type=_number, default=os.cpu_count() or 1, help="processes: one a processor")
    made.set_defaults(run=build)
    checked = actions.add_parser(
        "verify", help="solve some of its positions anew", description=verify.__doc__
    )
    checked.add_argument("--count", type=_number, default=500, help="positions of each kept ply: 500")
    checked.set_defaults(run=verify)
    for each in (made, checked):
        each.add_argument("--file", type=Path, default=BOOK_FILE, help="the book: the kit's own")


def _number(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 10**9:
        raise argparse.ArgumentTypeError(f"{text!r} is no number: write 1 or more")
    return int(text)
