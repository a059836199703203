"""The searches of `engine.search` in the native core: same values and best moves, thousands of times faster.

It knows two kinds of evaluations: weighted windows (`weighted_windows`), and those of `agents/deepening.py`
(`CoreEvaluation` tells what they have in common). Best moves are columns. A search runs in slices, between
which deadlines and Ctrl-C are seen; nothing but the nodes decides where a slice ends, so a search does the
same every time.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from ctypes import POINTER, byref, c_double, c_int32, c_int64, c_uint8, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from math import inf
from struct import pack, unpack
from threading import get_ident

from engine.board import Board
from engine.clock import now
from engine.native.build import NativeError
from engine.native.solver import WORD, Table, check_size, core, fits
from engine.search import SearchResult, quiescence
from engine.solver import OutOfTimeError
from engine.windows import Weights, window_evaluation

NODES_A_SLICE = 5000  # 0.3 ms; on any board below 1: long lines cost little here
FEW_NODES = 30_000  # as in windows.c: a search of more uses the whole table
DEEPEST = 128
WINDOWS_AT_MOST = 4 * 128
EXACT_SUM = 2**53  # a float holds whole numbers up to here
EXACT_END = 2**62
QUIET_MOVES, QUIET_CELLS = 1, 2


@dataclass(frozen=True)
class CoreEvaluation:
    """What the core has to know of an evaluation.

    Attributes:
        readable: the evaluation itself; the core gives the same values.
        own, other: what a window of the player, of the opponent is worth that lacks 0, 1, 2, 3 discs.
        centre: for each disc of the player in the middle.
        ends: values of a game that is won, drawn and lost; None leaves ended games to the windows.
        per_disc: by how much less a won game is worth for every disc on the board, and a lost one more.
        parity: for each winning cell in the rows hoped for that is not right above one of the other player's.
        hoped: these rows, of the player and of the opponent.
        quiet: whether forced moves are played before a position is valued: 0 for no, `QUIET_MOVES` for those
            of `engine.search.forced_moves`, `QUIET_CELLS` for those of `agents/deepening.py`.
        pruned: whether only the candidates of `agents/deepening.py` are looked at.
    """

    readable: Callable[[Board, int], float]
    own: tuple[float, float, float, float]
    other: tuple[float, float, float, float]
    centre: float = 0
    ends: tuple[float, float, float] | None = None
    per_disc: int = 0
    parity: int = 0
    hoped: tuple[int, int] = (0, 0)
    quiet: int = 0
    pruned: bool = False


def weighted_windows(weights: Weights, *, quiet: bool = False) -> CoreEvaluation:
    """`window_evaluation` of these weights, with `quiescence` if `quiet`."""
    evaluate = window_evaluation(weights)
    return CoreEvaluation(
        quiescence(evaluate) if quiet else evaluate,
        (weights.four, weights.three, weights.two, 0),
        (weights.other_four, weights.other_three, weights.other_two, 0),
        weights.centre,
        weights.terminal,
        quiet=QUIET_MOVES if quiet else 0,
    )


def native_search(board: Board, evaluation: CoreEvaluation) -> NativeSearch | None:
    """The search of this thread for boards of this size, which the next call gives again.

    None where the board or the weights do not fit into the core, and where there is none: that is told once
    on stderr.
    """
    if not fits(board):
        return None
    shape = board.geometry
    try:
        return _search_of(shape.rows, shape.columns, shape.inarow, evaluation, get_ident())
    except ValueError:
        return None
    except NativeError as error:
        _tell_once(f"no native core, so the search in Python sees less far: {error}")
        return None


@lru_cache(maxsize=4)
def _search_of(
    rows: int, columns: int, inarow: int, evaluation: CoreEvaluation, _thread: int
) -> NativeSearch:
    return NativeSearch(rows, columns, inarow, evaluation)


@cache
def _tell_once(message: str) -> None:
    print(message, file=sys.stderr)


class NativeSearch:
    """Searches of positions on one size of board with one evaluation. Not to be used by two threads at once.

    Raises `NativeError` where there is no core, `ValueError` for a size or weights that do not fit, and for a
    board of another size than the search's.
    """

    def __init__(
        self, rows: int, columns: int, inarow: int, evaluation: CoreEvaluation, megabytes: int = 32
    ) -> None:
        self.core = _search_core()
        self.evaluation = evaluation
        self._size = rows, columns, inarow
        self._table = Table(megabytes)
        self._memory = ctypes.create_string_buffer(self.core.windows_size() + 15)
        self._search = ctypes.addressof(self._memory) + 15 & ~15
        self._unit, self._told = _told(evaluation)  # the core keeps looking at it
        if self.core.windows_init(
            self._search, rows, columns, inarow, self._told, self._table.address, self._table.bytes
        ):
            raise ValueError(f"the native search has no boards of {rows}x{columns}, inarow {inarow}")

    def alpha_beta(self, board: Board, depth: int) -> SearchResult:
        """The result of `engine.search.alpha_beta`, but for the number of nodes."""
        if depth < 1:
            raise ValueError(f"a search looks at least 1 move ahead, not {depth}")
        result = self.iterative_deepening(board, inf, until=lambda result: result.depth == depth)
        return replace(result, depth=depth)  # it may have seen the end of the game before

    def iterative_deepening(
        self, board: Board, deadline: float, *, until: Callable[[SearchResult], bool] | None = None
    ) -> SearchResult:
        """The result of `engine.search.iterative_deepening`, but for the number of nodes."""
        check_size(board, self._size)
        value = self.evaluation.readable(board, board.turn)
        if board.is_over:
            return SearchResult(value, (), (), 0, 0)
        own, other = board.own, board.other
        self.core.windows_set(self._search, own & WORD, own >> 64, other & WORD, other >> 64)
        result, ended = None, False
        for depth in range(1, board.geometry.cells - board.ply + 1):
            if self.core.windows_nodes(self._search) >= FEW_NODES:
                try:
                    self._table.take_memory(deadline)
                except OutOfTimeError:
                    break
            self.core.windows_begin(self._search, depth)
            if result is None:
                moves, line, _, _ = self._found()
                result = SearchResult(value, moves, line, 0, 0)
            while (in_time := now() < deadline) and not self.core.windows_run(self._search, NODES_A_SLICE):
                pass
            if not in_time:
                break
            moves, line, value, ended = self._found()
            result = SearchResult(value, moves, line, depth, self.core.windows_nodes(self._search))
            if ended or (until and until(result)):
                break
        assert result
        return result

    def _found(self) -> tuple[tuple[int, ...], tuple[int, ...], float, bool]:
        """Of the last search: best columns, principal variation, value, whether every line ended the game."""
        value, columns, ended, line = c_int64(), c_uint32(), c_int32(), (c_uint8 * DEEPEST)()
        length = self.core.windows_found(self._search, byref(value), byref(columns), byref(ended), line)
        best = tuple(column for column in range(32) if columns.value >> column & 1)
        return best, tuple(line[:length]), self._value_of(value.value), bool(ended.value)

    def _value_of(self, number: int) -> float:
        """The value that stands in the core as a whole number."""
        if not self._unit:
            return _double(number)
        return number if self._unit == 1 else number / self._unit


class _Told(ctypes.Structure):
    """The `evaluation` of windows.c."""

    _fields_ = (
        ("worth", c_int64 * 4 * 2),
        *((name, c_int64) for name in ("centre", "parity", "won", "drawn", "lost", "per_stone")),
        ("weight", c_double * 4 * 2),
        ("centre_weight", c_double),
        ("hoped", c_uint64 * 2 * 2),
        *((name, c_int32) for name in ("is_exact", "has_ends", "quiet", "pruned")),
    )


def _told(evaluation: CoreEvaluation) -> tuple[int, _Told]:
    """An evaluation for the core, and how many whole numbers make 1 of its values; 0 for doubles."""
    ends = evaluation.ends or (0, 0, 0)
    weights = (*evaluation.own, *evaluation.other, evaluation.centre)
    unit = _unit(weights, ends)
    told = _Told(
        parity=evaluation.parity * unit,
        per_stone=evaluation.per_disc * unit,
        centre_weight=evaluation.centre,
        is_exact=unit != 0,
        has_ends=evaluation.ends is not None,
        quiet=evaluation.quiet,
        pruned=evaluation.pruned,
    )
    told.won, told.drawn, told.lost = (int(end * unit) if unit else _ordered(end) for end in ends)
    for side, side_weights in enumerate((evaluation.own, evaluation.other)):
        for lacking, weight in enumerate(side_weights):
            told.weight[side][lacking] = weight
            told.worth[side][lacking] = int(weight * unit)
        told.hoped[side][:] = evaluation.hoped[side] & WORD, evaluation.hoped[side] >> 64
    told.centre = int(evaluation.centre * unit)
    return unit, told


def _unit(weights: Sequence[float], ends: Sequence[float]) -> int:
    """The least power of two that makes all of them whole, if sums are exact then; else 0.

    Raises `ValueError` for what the readable search would not add up as doubles either.
    """
    for weight in (*weights, *ends):
        if not isinstance(weight, int | float) or not abs(weight) < inf or weight != float(weight):
            raise ValueError(f"the native search takes whole numbers and floats, not {weight!r}")
    unit = max(float(weight).as_integer_ratio()[1] for weight in (*weights, *ends))
    most = WINDOWS_AT_MOST * unit * sum(map(abs, weights))
    return unit if most <= EXACT_SUM and unit * max(map(abs, ends)) < EXACT_END else 0


def _ordered(value: float) -> int:
    """The whole number by which the core orders a double."""
    bits: int = unpack("<q", pack("<d", value + 0.0))[0]
    return bits if bits >= 0 else bits ^ 2**63 - 1


def _double(number: int) -> float:
    """What `_ordered` was made from."""
    value: float = unpack("<d", pack("<q", number if number >= 0 else number ^ 2**63 - 1))[0]
    return value


@cache
def _search_core() -> ctypes.CDLL:
    """The library, knowing the functions of windows.c. Raises `NativeError`."""
    lib = core()
    signatures = {
        "windows_size": (c_uint64,),
        "windows_nodes": (c_uint64, c_void_p),
        "windows_init": (c_int32, c_void_p, *[c_int32] * 3, POINTER(_Told), c_void_p, c_uint64),
        "windows_set": (None, c_void_p, *[c_uint64] * 4),
        "windows_begin": (None, c_void_p, c_int32),
        "windows_run": (c_int32, c_void_p, c_uint64),
        "windows_found": (
            *(c_int32, c_void_p, POINTER(c_int64), POINTER(c_uint32), POINTER(c_int32)),
            POINTER(c_uint8),
        ),
    }
    for name, (result, *arguments) in signatures.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib
