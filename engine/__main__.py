"""python -m engine: exact scores of positions, and how fast they are found."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from errno import ENOMEM
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple, NoReturn, cast

from engine.bench import Measured, kit_sets, scored_positions
from engine.board import Board, BoardError, parse_moves
from engine.book import Book
from engine.book_build import add_commands
from engine.clock import now
from engine.console import SCREEN_SECONDS, Progress, UsageError
from engine.native.build import NativeError
from engine.native.solver import NativeSolver
from engine.solver import ExactSolver, OutOfTimeError

Solver = NativeSolver | ExactSolver
Scores = list[int | None]
Find = Callable[[str, bool, float], tuple[int, Scores]]  # of moves, whether columns too, deadline
WAIT_SECONDS = 1.0  # of search, between two looks at what there is to tell
CHUNK = 2**16  # bytes of standard input
MOST_CELLS = 900  # the solver in Python goes as deep as there are cells, Python 1000 calls
COLUMN_OF_DIGIT = bytes.maketrans(b"123456789", bytes(range(9)))


class Size(NamedTuple):
    """Rows, columns and inarow, as in `6x7x4`."""

    rows: int
    columns: int
    inarow: int

    def __str__(self) -> str:
        return "x".join(map(str, self))


STANDARD = Size(6, 7, 4)


def main(arguments: Sequence[str]) -> int:
    """Runs a command; its exit status: 0, 1 where a benchmark found a wrong score, 2 for bad input."""
    if sys.stderr is None:  # closed: `print` would take standard output instead
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    try:
        return _run(arguments)
    except BrokenPipeError:  # whoever reads, such as `head`, has seen enough
        _drop_output()
        return 1
    except OSError as error:
        if error.errno == ENOMEM:
            return _refuse("there is not enough memory")
        _drop_output()
        what = error.filename or "standard output"
        return _refuse(f"cannot write {what}: {error.strerror or error}")


def _run(arguments: Sequence[str]) -> int:
    """The same, but for answers that cannot be written."""
    options = _parser().parse_args(arguments)
    if sys.stdout is None:
        return _refuse("standard output is closed: give the answers a place, such as > answers.txt")
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except (UsageError, BoardError) as error:
        return _refuse(str(error))
    except NativeError as error:  # `solve` and `bench` go on without it
        return _refuse(f"this takes the native core: {error}")
    except MemoryError:
        return _refuse("there is not enough memory")
    except KeyboardInterrupt:
        sys.stdout.flush()
        print("stopped", file=sys.stderr)
        return 130
    return status


def _refuse(message: str) -> int:
    """Says why it ends here, after the answers so far; the exit status."""
    if sys.stdout:
        sys.stdout.flush()
    print(f"error: {message}", file=sys.stderr)
    return 2


def _drop_output() -> None:
    """Python would write the rest at its end, and fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def solve(options: argparse.Namespace) -> int:
    """Prints `MOVES SCORE` for every position, in the order in which they come, as soon as it is found.

    Scores are from the side to move: 0 is a draw, 1 a win with the last disc it has, 2 with the one before,
    and so on; negative scores are losses likewise. An empty line, or '', is the empty board. The opening book
    knows the first moves of the standard one.
    """
    solver = make_solver(options.size, options.threads)
    find = finder(solver, options.size)
    if options.size == STANDARD:
        find = with_book(find)
    progress = Progress(len(options.moves))
    shown = now()
    screen = sys.stdout.isatty()
    try:
        for where, moves in _positions(options.moves):
            try:
                score, columns, _ = search(solver, find, moves, options.columns, progress)
            except ValueError as error:
                raise UsageError(f"{where}: {moves!r}: {error}") from None
            if screen:
                progress.clear()
            print(_answer(moves, score, columns, options.json))
            if (time := now()) > shown + SCREEN_SECONDS:  # not each: there may be 100,000 a second
                sys.stdout.flush()
                shown = time
            if not screen:  # else the answers show it
                progress.step()
    finally:
        progress.clear()
    return 0


def _answer(moves: str, score: int, columns: Scores, as_json: bool) -> str:
    if as_json:
        return json.dumps({"moves": moves, "score": score, **({"columns": columns} if columns else {})})
    listed = "".join(f" {'-' if value is None else value}" for value in columns)
    return f"{moves} {score}{':' if listed else ''}{listed}"


def bench(options: argparse.Namespace) -> int:
    """Solves sets of positions, without the book, the table emptied before each, and compares the scores."""
    if not options.file and options.size != STANDARD:
        raise UsageError("the kit's own positions are of 6x7x4: name a file for another size")
    solver = make_solver(options.size, options.threads)
    find = finder(solver, options.size)
    wrong = 0
    for path in [options.file] if options.file else kit_sets():
        measured = Measured(path.stem)
        try:
            _measure(path, solver, find, measured)
        finally:  # also after Ctrl-C
            wrong += measured.wrong
            if measured.positions:
                print(json.dumps(measured.figures()) if options.json else measured, flush=True)
    return 1 if wrong else 0


def _measure(path: Path, solver: Solver, find: Find, measured: Measured) -> None:
    """Solves the positions of a file."""
    rows = scored_positions(path)
    progress = Progress(len(rows))
    try:
        for row in rows:
            solver.forget()
            start = now()
            try:
                score, _, nodes = search(solver, find, row.moves, False, progress)
            except ValueError as error:
                raise UsageError(f"{path}, line {row.line}: {row.moves!r}: {error}") from None
            measured.add(now() - start, nodes, score == row.score)
            progress.step()
            if score != row.score:
                progress.clear()
                print(f"{path}, line {row.line}: {row.moves!r} is {score}, not {row.score}", file=sys.stderr)
    finally:
        progress.clear()


def search(
    solver: Solver, find: Find, moves: str, columns: bool, progress: Progress
) -> tuple[int, Scores, int]:
    """A score, those of the columns, and the nodes they took; `progress` is told that the search goes on.

    What a search has learnt when it is interrupted, the next one knows.
    """
    nodes = 0
    while True:
        try:
            score, scores = find(moves, columns, now() + WAIT_SECONDS)
            return score, scores, nodes + solver.nodes
        except OutOfTimeError:
            nodes += solver.nodes
            progress.step(0)


def make_solver(size: Size, threads: int = 1) -> Solver:
    """The native solver, or, saying so, the one in Python where that cannot be had."""
    try:
        return NativeSolver(*size, threads=threads)
    except (NativeError, ValueError) as error:
        print(
            f"note: {error}; solving in Python, in one thread, which is some hundred times slower",
            file=sys.stderr,
        )
        return ExactSolver(*size)


def finder(solver: Solver, size: Size) -> Find:
    """What gives the score of a move string and, if asked to, the scores of its columns, before a deadline.

    It raises `ValueError` and `OutOfTimeError`.
    """
    if isinstance(solver, ExactSolver):

        def find_in_python(moves: str, columns: bool, deadline: float) -> tuple[int, Scores]:
            board = Board.from_moves(moves, *size)
            score = solver.score(board, deadline=deadline)
            return score, solver.column_scores(board, deadline=deadline) if columns else []

        return find_in_python
    quick, native = re.compile("[1-9]*").fullmatch, solver

    def find(moves: str, columns: bool, deadline: float) -> tuple[int, Scores]:
        if quick(moves):
            played = moves.encode().translate(COLUMN_OF_DIGIT)
        else:
            played = bytes(min(column, 255) for column in parse_moves(moves))
        if native.set_moves(played) < len(played):
            Board.from_moves(moves, *size)  # raises the error that names the move
        score = native.score(deadline=deadline)
        return score, native.column_scores(deadline=deadline) if columns else []

    return find


def with_book(find: Find) -> Find:
    """Looks a standard position up, if the book has it, before it is searched."""
    book = Book.load()

    def look_up(moves: str, columns: bool, deadline: float) -> tuple[int, Scores]:
        board = Board.from_moves(moves) if len(moves) <= book.plies else None
        score = book.score(board) if board and board.ply + columns <= book.plies else None
        if not board or score is None:
            return find(moves, columns, deadline)
        legal = board.legal_moves() if columns else []
        values = [
            book.value(board, column) if column in legal else None for column in range(STANDARD.columns)
        ]
        return score, values if columns else []

    return look_up


def _positions(arguments: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Where each position stands, and its moves: from the arguments, or the first words of standard input."""
    if arguments:
        yield from ((f"position {number}", moves) for number, moves in enumerate(arguments, 1))
    else:
        if sys.stdin and sys.stdin.isatty():
            print("type positions, one a line, such as 4455; Ctrl-C ends", file=sys.stderr)
        for number, line in enumerate(_lines(), 1):
            yield f"line {number}", line.split(maxsplit=1)[0] if line.strip() else ""


def _lines() -> Iterator[str]:
    """Lines of standard input. What has been printed is shown before waiting for more of them."""
    rest = b""
    while chunk := _chunk():
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line.decode(errors="replace") for line in lines)
        sys.stdout.flush()
    if rest:
        yield rest.decode(errors="replace")


def _chunk() -> bytes:
    """More of standard input, nothing at its end. Raises `UsageError`."""
    if sys.stdin is None:
        raise UsageError("standard input is closed: give positions as arguments, such as 4455")
    try:
        return cast(BufferedReader, sys.stdin.buffer).read1(CHUNK)
    except OSError as error:
        raise UsageError(f"cannot read standard input: {error.strerror}") from None


def _size(text: str) -> Size:
    match = re.fullmatch(r"([1-9]\d{0,2})x([1-9]\d{0,2})x([1-9]\d{0,2})", text, re.ASCII)
    size = Size(*map(int, match.groups())) if match else None
    if not size or size.rows * size.columns > MOST_CELLS:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no size: write rows, columns and inarow as in 6x7x4, at most {MOST_CELLS} cells"
        )
    return size


def _threads(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 64:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of threads: write 1 to 64")
    return int(text)


class Parser(argparse.ArgumentParser):
    """Its errors are one line, like those of the other commands."""

    def error(self, message: str) -> NoReturn:
        """Ends the program."""
        self.exit(2, f"error: {message} ({self.prog} -h tells more)\n")


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = Parser(
        prog="python -m engine", description="Exact scores of positions, and how fast they are found."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser(
        "solve", help="print the exact score of positions", description=solve.__doc__
    )
    command.add_argument(
        "moves",
        nargs="*",
        metavar="MOVES",
        help="columns in the order played, the leftmost 1, such as 4455; with commas, such as 4,10,5, where "
        "there are more than 9 (default: the first word of each line of standard input)",
    )
    command.add_argument(
        "--columns", action="store_true", help="add the score of each column, - for a full one"
    )
    command.add_argument("--json", action="store_true", help="print a JSON object for each position")
    command.set_defaults(run=solve)
    timed = commands.add_parser("bench", help="measure how fast scores are found", description=bench.__doc__)
    timed.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="positions, a line each: moves and exact score, such as 4455 18 (default: the kit's own sets)",
    )
    timed.add_argument("--json", action="store_true", help="print a JSON object for each set")
    timed.set_defaults(run=bench)
    for each in (command, timed):
        each.add_argument(
            "--size",
            type=_size,
            default=STANDARD,
            help="the board's rows and columns, and how many in a row win (default: %(default)s)",
        )
        each.add_argument(
            "--threads",
            type=_threads,
            default=1,
            metavar="N",
            help="threads for a hard position (default: %(default)s)",
        )
    add_commands(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
