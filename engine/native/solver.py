"""The native core from Python: exact scores in microseconds, with the interface of `engine.solver`.

Calls that take long run in a thread of their own, so that Ctrl-C and deadlines reach the core: it looks at a
flag every thousand nodes, which takes it a tenth of a millisecond.
"""

from __future__ import annotations

import ctypes
import mmap
import threading
from collections.abc import Callable
from ctypes import POINTER, c_char_p, c_int32, c_uint32, c_uint64, c_void_p
from functools import cache
from math import inf

from engine.board import Board
from engine.clock import now
from engine.native.build import NativeError, library, source_hash

ABI = 2
NO_SCORE = -1000
WIDEST = 1000  # more than any score
QUICK_NODES = 10_000  # 1 ms, on large boards 5: as long may a deadline and Ctrl-C wait
TICK = 0.005  # seconds; Windows keeps Ctrl-C back while one thread waits for another
NO_LIMIT = 2**64 - 1
MEGABYTE = 2**20
WORD = 2**64 - 1


class OutOfTimeError(Exception):
    """The deadline passed before the position was solved."""


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
    return shape.stride * shape.columns <= 128 and shape.columns <= 32 and shape.inarow <= 16


class Table:
    """What searches remember, for boards of one size; solvers in several threads may share it.

    Memory is taken only as it fills.
    """

    def __init__(self, megabytes: int = 64) -> None:
        self.bytes = megabytes * MEGABYTE
        self._memory = mmap.mmap(-1, self.bytes)
        if hasattr(mmap, "MADV_HUGEPAGE"):
            self._memory.madvise(mmap.MADV_HUGEPAGE)  # 8 % faster
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))


class NativeSolver:
    """Exact scores of the positions of one size of board. Not to be used by two threads at once.

    Scores are Pascal Pons': from the side to move, 0 a draw, 1 a win with the last own disc, 2 with the one
    before; negative for losses. Raises `NativeError` where there is no core, `ValueError` for a board that
    does not fit.
    """

    def __init__(self, rows: int = 6, columns: int = 7, inarow: int = 4, table: Table | None = None) -> None:
        self.core = core()
        self.columns = columns
        self.table = table or Table()
        self._near = Table(1)  # small enough for the processor's cache, where most nodes are
        self.nodes = 0  # positions visited by the last call
        self._stop = c_int32(0)
        self._generation = 1
        self._memory = ctypes.create_string_buffer(self.core.solver_size() + 31)
        self._solver = ctypes.addressof(self._memory) + 31 & ~31
        failed = self.core.solver_init(
            self._solver,
            rows,
            columns,
            inarow,
            self.table.address,
            self.table.bytes,
            self._near.address,
            MEGABYTE,
        )
        if failed:
            raise ValueError(f"the native core has no boards of {rows}x{columns}, inarow {inarow}")

    def forget(self) -> None:
        """Empties the table, in no time: what it holds is no longer seen."""
        self._generation = self._generation % 255 + 1
        if self._generation == 1:
            for table in (self.table, self._near):
                ctypes.memset(table.address, 0, table.bytes)
        self.core.solver_generation(self._solver, self._generation)

    def set_board(self, board: Board) -> None:
        """The position that the next calls are about."""
        own, other = board.own, board.other
        self.core.solver_set(self._solver, own & WORD, own >> 64, other & WORD, other >> 64)

    def set_moves(self, moves: bytes) -> int:
        """The position after 0-based columns. Returns how many could be played: the next one was illegal."""
        return int(self.core.solver_position(self._solver, moves, len(moves)))

    def score(self, board: Board | None = None, *, weak: bool = False, deadline: float = inf) -> int:
        """The score of a position, by default of the one set last, whose game must not be won
        (`ValueError`).

        `weak` asks for its sign only: 1, 0, -1 for a win, draw, loss. `deadline` is on the clock of
        `engine.clock.now`. Raises `OutOfTimeError`.
        """
        if board:
            self.set_board(board)
        widest = 1 if weak else WIDEST
        score = self._call(lambda: self.core.solver_score(self._solver, -widest, widest), deadline)
        return (score > 0) - (score < 0) if weak else score

    def column_scores(self, board: Board | None = None, *, deadline: float = inf) -> list[int | None]:
        """The score of every column for the side to move; None for a full one. Otherwise like `score`."""
        if board:
            self.set_board(board)
        found = (c_int32 * 32)()
        self._call(lambda: self.core.solver_columns(self._solver, -WIDEST, WIDEST, found), deadline)
        return [None if score == NO_SCORE else score for score in found[: self.columns]]

    def best_columns(
        self, board: Board | None = None, *, score: int | None = None, deadline: float = inf
    ) -> tuple[int, list[int]]:
        """The score of a position and all 0-based columns that reach it; none on a full board.

        Much cheaper than `column_scores`: once the score is known, from `score` or from a search, one null
        window tells whether a column reaches it. `score` is believed. Otherwise like `score`.
        """
        if board:
            self.set_board(board)
        found, known = c_uint32(0), NO_SCORE if score is None else score
        best = self._call(lambda: self.core.solver_best(self._solver, known, found), deadline)
        return best, [column for column in range(self.columns) if found.value >> column & 1]

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

    def _call(self, function: Callable[[], int], deadline: float) -> int:
        """Calls the core; in a thread if that takes long."""
        self.core.solver_limits(self._solver, None, QUICK_NODES)
        result = function()
        self.nodes = self.core.solver_nodes(self._solver)
        if result != NO_SCORE:
            return int(result)
        if not self.nodes:
            raise ValueError("the game is over: only positions to play on have a score")
        self._stop.value = 0
        self.core.solver_limits(self._solver, ctypes.addressof(self._stop), NO_LIMIT)
        results: list[int] = []
        thread = threading.Thread(target=lambda: results.append(function()), daemon=True)
        thread.start()
        try:
            while thread.is_alive() and (left := deadline - now()) > 0:
                thread.join(min(left, TICK))
        finally:  # also after Ctrl-C
            self._stop.value = 1
            thread.join()
            self.nodes += self.core.solver_nodes(self._solver)
        if results[0] == NO_SCORE:
            raise OutOfTimeError("the position was not solved in time")
        return results[0]
