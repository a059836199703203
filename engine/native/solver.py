"""The native core from Python: exact scores in microseconds, with the interface of `engine.solver`.

A search runs in slices of milliseconds, between which Ctrl-C and deadlines are seen: what a slice was about
to find, the next finds again by the table, for half a percent more nodes and without a thread to watch it.
"""

from __future__ import annotations

import ctypes
import mmap
import threading
from collections.abc import Callable
from contextlib import suppress
from ctypes import POINTER, c_char_p, c_int32, c_uint32, c_uint64, c_void_p
from functools import cache
from math import inf
from typing import TypeVar

from engine.board import Board
from engine.clock import now
from engine.native.build import NativeError, library, source_hash
from engine.solver import NEAR_CELLS, OutOfTimeError

__all__ = ["NativeSolver", "OutOfTimeError", "Table", "fits"]

ABI = 2
NO_SCORE = -1000
WIDEST = 1000  # more than any score
SLICE_NODES = 10_000  # 1 ms on the standard board, at most 3 on others of up to 64 bits
LEAST_SLICE_NODES = 2048  # of which 3 % go into what the last slice had found
CHEAP_NODE = 40  # columns times inarow: beyond 64 bits a node takes 0.4 us up to here, then in proportion
TICK = 0.005  # seconds; Windows keeps Ctrl-C back while one thread waits for another
NO_LIMIT = 2**64 - 1
MEGABYTE = 2**20
WORD = 2**64 - 1
Found = TypeVar("Found")


@cache
def core() -> ctypes.CDLL:
    """The library, compiled and loaded on first use. Raises `NativeError`."""
    path = library()
    try:
        lib = ctypes.CDLL(str(path))
    except OSError as error:
        raise NativeError(f"the native core {path} cannot be loaded: {error}") from None
    signatures = {
        "abi_version": (c_uint32,),
        "source_hash": (c_uint64,),
        "solver_size": (c_uint64,),
        "solver_nodes": (c_uint64, c_void_p),
        "solver_init": (c_int32, c_void_p, *[c_int32] * 3, *[c_void_p, c_uint64] * 2),
        "solver_limits": (None, c_void_p, c_void_p, c_uint64),
        "solver_team_size": (c_uint64,),
        "solver_team": (None, c_void_p, c_void_p),
        "table_touch": (None, c_void_p, c_uint64),
        "solver_generation": (None, c_void_p, c_uint32),
        "solver_position": (c_int32, c_void_p, c_char_p, c_int32),
        "solver_set": (None, c_void_p, *[c_uint64] * 4),
        "solver_score": (c_int32, c_void_p, c_int32, c_int32),
        "solver_columns": (c_int32, c_void_p, c_int32, c_int32, POINTER(c_int32)),
        "solver_best": (c_int32, c_void_p, c_int32, POINTER(c_uint32)),
        "solver_perft": (c_uint64, c_void_p, c_int32),
    }
    for name, (result, *arguments) in signatures.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    if (lib.abi_version(), lib.source_hash()) != (ABI, source_hash()):
        raise NativeError(f"{path} was made from another core.c: delete it")
    return lib


def fits(board: Board) -> bool:
    """Whether the core can play on a board of this size: 128 bits, with one to spare in each column."""
    shape = board.geometry
    is_small = shape.stride * shape.columns <= 128 and shape.columns <= 32 and shape.rows <= 120
    return is_small and shape.inarow <= 16


def check_size(board: Board, size: tuple[int, int, int]) -> None:
    """Raises `ValueError` for a board of another size than a search was made for: rows, columns, inarow."""
    shape = board.geometry
    if (given := (shape.rows, shape.columns, shape.inarow)) != size:
        wanted, other = ("{}x{}, inarow {}".format(*each) for each in (size, given))
        raise ValueError(f"made for boards of {wanted}, not of {other}")


def slice_nodes(rows: int, columns: int, inarow: int) -> int:
    """Nodes of a slice on a board of this size: 5 ms at most, as long may a deadline and Ctrl-C wait."""
    if (rows + 1) * columns <= 64:
        return SLICE_NODES
    return max(LEAST_SLICE_NODES, min(SLICE_NODES, SLICE_NODES * CHEAP_NODE // (columns * inarow)))


class Table:
    """What searches remember, for boards of one size; solvers in several threads may share it.

    Its memory is taken by the first search that needs it. Beyond 8 MB, more gains little.
    """

    def __init__(self, megabytes: int = 64) -> None:
        self.bytes = megabytes * MEGABYTE
        if hasattr(mmap, "MADV_HUGEPAGE"):  # 8 % faster
            self._memory = mmap.mmap(-1, self.bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            with suppress(OSError):  # a kernel without them
                self._memory.madvise(mmap.MADV_HUGEPAGE)
        else:
            self._memory = mmap.mmap(-1, self.bytes)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._taken = 0

    def take_memory(self, deadline: float) -> None:
        """Takes it piece by piece, half a millisecond each: a search would run into all pages at once.

        Raises `OutOfTimeError`.
        """
        while self._taken < self.bytes:
            if now() >= deadline:
                raise OutOfTimeError("the position was not solved in time")
            core().table_touch(self.address + self._taken, MEGABYTE)
            self._taken += MEGABYTE


class NativeSolver:
    """Exact scores of the positions of one size of board. Not to be used by two threads at once.

    With `threads`, a search that takes more than some milliseconds runs in so many, on one table. Scores are
    Pascal Pons': from the side to move, 0 a draw, 1 a win with the last own disc, 2 with the one before;
    negative for losses. Raises `NativeError` where there is no core, `ValueError` for a size that does not
    fit and for a board of another size than the solver's.
    """

    def __init__(
        self,
        rows: int = 6,
        columns: int = 7,
        inarow: int = 4,
        table: Table | None = None,
        *,
        threads: int = 1,
    ) -> None:
        self.core = core()
        self.size = rows, columns, inarow
        self.columns = columns
        self.cells = self._empty = rows * columns
        self.table = table or Table()
        self.nodes = 0  # positions visited by the last call
        self.slice_nodes = slice_nodes(rows, columns, inarow)
        self._generation = 1
        self._stop = c_int32(0)
        self._team = ctypes.create_string_buffer(self.core.solver_team_size() + 7)
        self._near = [Table(1) for _ in range(threads)]  # in the processor's cache, where most nodes are
        size = self.core.solver_size() + 31
        self._memory = [ctypes.create_string_buffer(size) for _ in range(threads)]
        self._solvers = [ctypes.addressof(memory) + 31 & ~31 for memory in self._memory]
        self._solver = self._solvers[0]
        for solver, near in zip(self._solvers, self._near, strict=True):
            big = self.table
            if self.core.solver_init(
                solver, rows, columns, inarow, big.address, big.bytes, near.address, near.bytes
            ):
                raise ValueError(f"the native core has no boards of {rows}x{columns}, inarow {inarow}")

    def forget(self) -> None:
        """Empties the table, in no time: what it holds is no longer seen."""
        self._generation = self._generation % 255 + 1
        if self._generation == 1:
            for table in (self.table, *self._near):
                ctypes.memset(table.address, 0, table.bytes)
        for solver in self._solvers:
            self.core.solver_generation(solver, self._generation)

    def set_board(self, board: Board) -> None:
        """The position that the next calls are about. Raises `ValueError` for a board of another size."""
        check_size(board, self.size)
        own, other = board.own, board.other
        self._empty = self.cells - board.ply
        for solver in self._solvers:
            self.core.solver_set(solver, own & WORD, own >> 64, other & WORD, other >> 64)

    def set_moves(self, moves: bytes) -> int:
        """The position after 0-based columns. Returns how many could be played: the next one was illegal."""
        played = 0
        for solver in self._solvers:
            played = self.core.solver_position(solver, moves, len(moves))
        self._empty = self.cells - played
        return played

    def score(self, board: Board | None = None, *, weak: bool = False, deadline: float = inf) -> int:
        """The score of a position, by default of the one set last, whose game must not be won
        (`ValueError`).

        `weak` asks for its sign only: 1, 0, -1 for a win, draw, loss. `deadline` is on the clock of
        `engine.clock.now`. Raises `OutOfTimeError`.
        """
        if board:
            self.set_board(board)
        widest = 1 if weak else WIDEST

        def call(solver: int) -> int | None:
            score: int = self.core.solver_score(solver, -widest, widest)
            return None if score == NO_SCORE else score

        score = self._call(call, deadline)
        return (score > 0) - (score < 0) if weak else score

    def column_scores(self, board: Board | None = None, *, deadline: float = inf) -> list[int | None]:
        """The score of every column for the side to move; None for a full one. Otherwise like `score`."""
        if board:
            self.set_board(board)

        def call(solver: int) -> list[int | None] | None:
            found = (c_int32 * 32)()
            if self.core.solver_columns(solver, -WIDEST, WIDEST, found) == NO_SCORE:
                return None
            return [None if score == NO_SCORE else score for score in found[: self.columns]]

        return self._call(call, deadline)

    def best_columns(
        self, board: Board | None = None, *, score: int | None = None, deadline: float = inf
    ) -> tuple[int, list[int]]:
        """The score of a position and all 0-based columns that reach it; none on a full board.

        Much cheaper than `column_scores`: once the score is known, from `score` or from a search, one null
        window tells whether a column reaches it. `score` is believed. Otherwise like `score`.
        """
        if board:
            self.set_board(board)

        def call(solver: int) -> tuple[int, list[int]] | None:
            found = c_uint32(0)
            best = self.core.solver_best(solver, NO_SCORE if score is None else score, found)
            if best == NO_SCORE:
                return None
            return best, [column for column in range(self.columns) if found.value >> column & 1]

        return self._call(call, deadline)

    def reaches(self, board: Board, column: int, score: int, *, deadline: float = inf) -> bool:
        """Whether a move is worth `score` or more to the side that makes it: one null window."""
        child = board.play(column)
        if child.winner:
            return board.geometry.win_score(child.ply) >= score
        self.set_board(child)

        def call(solver: int) -> int | None:
            bound: int = self.core.solver_score(solver, -score, 1 - score)
            return None if bound == NO_SCORE else bound

        return self._call(call, deadline) <= -score

    def principal_variation(self, board: Board, *, deadline: float = inf) -> list[int]:
        """Best play of both sides to the end, 0-based; of equally good columns the leftmost. Like `score`."""
        line: list[int] = []
        score = None
        while not board.is_over:
            score, columns = self.best_columns(board, score=score, deadline=deadline)
            line.append(columns[0])
            board, score = board.play(columns[0]), -score
        return line

    def perft(self, depth: int) -> int:
        """How many sequences of `depth` moves there are, games that end before not counted."""
        return int(self.core.solver_perft(self._solver, depth))

    def _call(self, call: Callable[[int], Found | None], deadline: float) -> Found:
        """What `call` finds, given a solver of the core, in slices; it returns None when it was stopped."""
        self.nodes = 0
        if self._empty > NEAR_CELLS:
            self.table.take_memory(deadline)
        self.core.solver_limits(self._solver, None, self.slice_nodes)
        while True:
            found = call(self._solver)
            self.nodes += self.core.solver_nodes(self._solver)
            if found is not None:
                return found
            if not self.nodes:
                raise ValueError("the game is over: only positions to play on have a score")
            if now() >= deadline:
                raise OutOfTimeError("the position was not solved in time")
            if len(self._solvers) > 1:
                return self._call_together(call, deadline)

    def _call_together(self, call: Callable[[int], Found | None], deadline: float) -> Found:
        """What the first of several threads finds; they divide the search among them in the core."""
        results: list[Found] = []
        finished = threading.Event()
        self._stop.value = 0
        for solver in self._solvers:
            self.core.solver_limits(solver, ctypes.addressof(self._stop), NO_LIMIT)
            self.core.solver_team(solver, ctypes.addressof(self._team) + 7 & ~7)

        def work(solver: int) -> None:
            found = call(solver)
            if found is not None:
                results.append(found)
                finished.set()

        threads = [threading.Thread(target=work, args=(solver,), daemon=True) for solver in self._solvers]
        try:
            for thread in threads:
                thread.start()
            while (left := deadline - now()) > 0 and not finished.wait(min(left, TICK)):
                pass
        finally:  # also after Ctrl-C
            self._stop.value = 1
            for thread, solver in zip(threads, self._solvers, strict=True):
                if thread.ident:  # Ctrl-C may come before all have started
                    thread.join()
                self.nodes += self.core.solver_nodes(solver)
            self.core.solver_team(self._solver, None)
        if not results:
            raise OutOfTimeError("the position was not solved in time")
        return results[0]
