"""Long calculations in several processes that can be stopped at any time and go on from there.

Positions are solved in units. What is found of a unit is written to a work file as soon as it is known, on a
line: its first position, and a number for each of its positions.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import suppress
from hashlib import blake2b
from multiprocessing import get_context
from pathlib import Path

from engine.console import Progress, UsageError
from engine.native.build import source_hash

Unit = list[str]  # move strings of positions that are solved together
Solve = Callable[[Unit], list[int]]
_solve: Solve  # of a process that solves


def solve_all(solve: Solve, wanted: list[Unit], jobs: int, path: Path, what: str) -> dict[str, int]:
    """What `solve` finds for every position, by its moves; it is told as `what`.

    `solve` goes to each process once, and is then given one unit after the other. Raises `UsageError` if
    the file was not begun by the same `solve` (by its `repr`) with the same positions and the same core.
    """
    work = WorkFile(path, fingerprint(solve, wanted))
    done = work.read(wanted)
    left = [unit for unit in wanted if unit[0] not in done]
    total = sum(map(len, wanted))
    print(f"{what}: {total:,}", file=sys.stderr)
    if left:
        progress = Progress(total, done=total - sum(map(len, left)))
        with ProcessPoolExecutor(jobs, get_context("spawn"), _begin, (solve,)) as pool:
            for unit, numbers in _solved(pool, left):
                work.append(unit, numbers)
                done[unit[0]] = numbers
                progress.step(len(unit))
        progress.clear()
    return {moves: number for unit in wanted for moves, number in zip(unit, done[unit[0]], strict=True)}


def _begin(solve: Solve) -> None:
    global _solve  # noqa: PLW0603 - what a process begins with has no other way to its tasks
    _solve = solve
    signal.signal(
        signal.SIGINT, signal.SIG_DFL
    )  # silent at Ctrl-C: what to do is for the one that started it


def _solve_here(unit: Unit) -> list[int]:
    return _solve(unit)


def _solved(pool: Executor, left: list[Unit]) -> Iterator[tuple[Unit, list[int]]]:
    running = {pool.submit(_solve_here, unit): unit for unit in left}
    try:
        for future in as_completed(running):
            yield running.pop(future), future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def fingerprint(solve: Solve, wanted: list[Unit]) -> str:
    """Names a calculation: what is done, with which core, for which positions."""
    about = repr((solve, source_hash(), wanted))
    return blake2b(about.encode(), digest_size=16).hexdigest()


class WorkFile:
    """Solved units of one calculation, whose fingerprint is the first line."""

    def __init__(self, path: Path, head: str) -> None:
        self.path = path
        self.head = head

    def read(self, wanted: list[Unit]) -> dict[str, list[int]]:
        """What was solved of `wanted`, by a unit's first position. A damaged line is left out."""
        data = self.path.read_bytes() if self.path.exists() else b""
        whole = data.rfind(b"\n") + 1  # a kill may have cut the last line short
        if not whole:
            self.path.write_text(f"{self.head}\n", encoding="ascii")
            return {}
        os.truncate(self.path, whole)
        head, *lines = data[:whole].decode("ascii", "replace").splitlines()
        if head != self.head:
            raise UsageError(f"{self.path} is of another book or core: delete it, or give another --file")
        sizes = {unit[0]: len(unit) for unit in wanted}
        found = {}
        for line in lines:
            moves, *numbers = line.split() or [""]
            if sizes.get(moves) == len(numbers):
                with suppress(ValueError):
                    found[moves] = [int(number) for number in numbers]
        return found

    def append(self, unit: Unit, numbers: list[int]) -> None:
        """Adds a unit, and sees to it that it is on the disk."""
        with self.path.open("a", encoding="ascii") as file:
            file.write(f"{unit[0]} {' '.join(map(str, numbers))}\n")
            file.flush()
            os.fsync(file.fileno())
