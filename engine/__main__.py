"""python -m engine: exact scores of positions, and how fast they are found."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from engine.board import Board, BoardError, parse_moves
from engine.native.build import NativeError
from engine.native.solver import NativeSolver
from engine.solver import ExactSolver

Solver = NativeSolver | ExactSolver
Scores = list[int | None]
COLUMN_OF_DIGIT = bytes.maketrans(b"123456789", bytes(range(9)))


class Size(NamedTuple):
    """Rows, columns and inarow, as in `6x7x4`."""

    rows: int
    columns: int
    inarow: int


class UsageError(ValueError):
    """What a person gave that cannot be used; the message is one line."""


def main(arguments: Sequence[str]) -> int:
    """Runs a command; its exit status: 0, 1 where a benchmark found a wrong score, 2 for bad input."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except (UsageError, BoardError) as error:
        sys.stdout.flush()
        print(f"error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # whoever reads, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more at its end
        return 1
    except KeyboardInterrupt:
        sys.stdout.flush()
        print("stopped", file=sys.stderr)
        return 130
    return status


def solve(options: argparse.Namespace) -> int:
    """Prints `MOVES SCORE` for every position, in the order in which they come."""
    solver = make_solver(options.size)
    find = finder(solver, options.size)
    for where, moves in _positions(options.moves):
        try:
            score, columns = find(moves, options.columns)
        except ValueError as error:
            raise UsageError(f"{where}: {moves!r}: {error}") from None
        if options.json:
            found = {"moves": moves, "score": score, **({"columns": columns} if options.columns else {})}
            print(json.dumps(found))
        else:
            listed = "".join(f" {'-' if value is None else value}" for value in columns)
            print(f"{moves} {score}{':' if listed else ''}{listed}".strip())
    return 0


def bench(options: argparse.Namespace) -> int:
    """Solves the positions of a file, the table emptied before each, and compares the scores."""
    solver = make_solver(options.size)
    find = finder(solver, options.size)
    seconds, nodes, wrong = [], 0, 0
    for number, (moves, expected) in enumerate(_scored(options.file), 1):
        solver.forget()
        start = perf_counter()
        try:
            score, _ = find(moves, False)
        except ValueError as error:
            raise UsageError(f"{options.file}, line {number}: {moves!r}: {error}") from None
        seconds.append(perf_counter() - start)
        nodes += solver.nodes
        if score != expected:
            wrong += 1
            print(f"line {number}: {moves} is {score}, not {expected}")
    if not seconds:
        raise UsageError(f"{options.file} holds no positions: write one `moves score` a line")
    count, total = len(seconds), sum(seconds)
    mean, longest = 1e6 * total / count, 1e6 * max(seconds)
    print(
        f"{count} positions, {wrong} wrong: mean {mean:,.1f} us, longest {longest:,.1f} us, "
        f"mean {nodes / count:,.0f} nodes, {nodes / total / 1e6:.2f} million nodes/s"
    )
    return 1 if wrong else 0


def make_solver(size: Size) -> Solver:
    """The native solver, or, saying so, the one in Python where that cannot be had."""
    try:
        return NativeSolver(*size)
    except (NativeError, ValueError) as error:
        print(f"note: {error}; solving in Python, which is some thousand times slower", file=sys.stderr)
        return ExactSolver(*size)


def finder(solver: Solver, size: Size) -> Callable[[str, bool], tuple[int, Scores]]:
    """What gives the score of a move string and, if asked to, the scores of its columns; `ValueError`."""
    if isinstance(solver, ExactSolver):
        return lambda moves, columns: _by_board(solver, Board.from_moves(moves, *size), columns)
    quick, native = re.compile("[1-9]*").fullmatch, solver

    def find(moves: str, columns: bool) -> tuple[int, Scores]:
        if quick(moves):
            played = moves.encode().translate(COLUMN_OF_DIGIT)
        else:
            played = bytes(min(column, 255) for column in parse_moves(moves))
        if native.set_moves(played) < len(played):
            Board.from_moves(moves, *size)  # raises the error that names the move
        if columns:
            return native.score(), native.column_scores()
        return native.score(), []

    return find


def _by_board(solver: ExactSolver, board: Board, columns: bool) -> tuple[int, Scores]:
    return solver.score(board), solver.column_scores(board) if columns else []


def _positions(arguments: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Where each position stands, and its moves: from the arguments, or the first words of standard input."""
    if arguments:
        yield from ((f"position {number}", moves) for number, moves in enumerate(arguments, 1))
    else:
        yield from (
            (f"line {number}", line.split(maxsplit=1)[0] if line.strip() else "")
            for number, line in enumerate(sys.stdin, 1)
        )


def _scored(path: Path) -> Iterator[tuple[str, int]]:
    """The positions of a file of `moves score` lines. Raises `UsageError`."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    for number, line in enumerate(lines, 1):
        match = re.fullmatch(r"\s*([\d,]*)\s+(-?\d+)\s*", line)
        if not match:
            raise UsageError(f"{path}, line {number}: {line[:60]!r} is not `moves score`, as in `4455 2`")
        yield match[1], int(match[2])


def _size(text: str) -> Size:
    if not (match := re.fullmatch(r"(\d+)x(\d+)x(\d+)", text)):
        raise argparse.ArgumentTypeError(f"{text!r} is no size: write rows, columns and inarow as in 6x7x4")
    try:
        Board(*map(int, match.groups()))
    except BoardError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return Size(*map(int, match.groups()))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m engine", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser(
        "solve", help="print the exact score of positions", description=solve.__doc__
    )
    command.add_argument(
        "moves", nargs="*", metavar="MOVES", help="columns played from 1, such as 4455; else standard input"
    )
    command.add_argument(
        "--columns", action="store_true", help="add the score of every column; - for a full one"
    )
    command.add_argument("--json", action="store_true", help="one JSON object a line")
    command.set_defaults(run=solve)
    timed = commands.add_parser("bench", help="measure the solver", description=bench.__doc__)
    timed.add_argument("file", type=Path, metavar="FILE", help="lines of moves and their exact score")
    timed.set_defaults(run=bench)
    for each in (command, timed):
        each.add_argument("--size", type=_size, default=Size(6, 7, 4), help="rows, columns and inarow: 6x7x4")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
