"""Agents and analysis in processes of their own, so that the window stays fluent.

Agents in pure Python hold the interpreter's lock: as a thread beside the window they would take most of its
frames. A process can also be ended in mid-thought, whatever an agent does; and should the window itself be
killed, its processes see it and end by themselves.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from threading import Thread
from typing import Any

from engine.board import Board
from engine.clock import now
from engine.native.build import NativeError
from engine.native.solver import NativeSolver, OutOfTimeError, fits
from engine.search import alpha_beta
from engine.windows import evaluate_windows, preset
from evaluation.errors import InputError
from evaluation.loading import load_agent
from play.debug import explain, overhear
from play.scene import Values
from play.session import AgentError, ask

ESTIMATE_SECONDS = 2.5
EXACT_SECONDS = 60.0  # the empty board takes a quarter of it
SLICE_SECONDS = 0.3  # so long the analysis may be deaf to a new position
LOOK = 200  # evaluations between two looks at the clock and at the connection
WIN = 1_000_000  # beyond any sum of windows
WEIGHTS = preset("article")


@dataclass(frozen=True)
class Position:
    """A position by its moves, which is little to send to another process."""

    moves: tuple[int, ...]
    rows: int
    columns: int
    inarow: int

    @staticmethod
    def of(board: Board, moves: list[int]) -> Position:
        """The position of `board`, reached by `moves`."""
        shape = board.geometry
        return Position(tuple(moves), shape.rows, shape.columns, shape.inarow)

    @property
    def board(self) -> Board:
        """The position as a board."""
        return Board.from_moves(self.moves, self.rows, self.columns, self.inarow)


@dataclass(frozen=True)
class Move:
    """The question for a move, to be answered in `seconds`."""

    position: Position
    seconds: float


@dataclass(frozen=True)
class Explain:
    """The request to print everything about the last move of `position`, which `player` (a name) made.

    `depth` is that of the columns' values; `own` says whether it was the move of the agent that is asked.
    """

    position: Position
    player: str
    depth: int
    own: bool


@dataclass(frozen=True)
class Failure:
    """The answer of an agent that gives no legal move; `message` is one line."""

    message: str


Service = Callable[[Any, str], Callable[[Any], Iterator[Any]]]


class Worker:
    """A process that answers questions one after the other, each with any number of answers.

    `service` is a function of this module, called in the process with the connection and `argument`; what
    it returns turns a question into its answers. The process starts at once and ends with `close`.
    """

    def __init__(self, service: Service, argument: str = "") -> None:
        self._service, self._argument = service, argument
        self._start()

    def _start(self) -> None:
        context = get_context("spawn")
        self._connection, end = context.Pipe()
        self._process = context.Process(target=_serve, args=(end, self._service, self._argument), daemon=True)
        self._process.start()
        self._ended = False
        end.close()

    @property
    def pid(self) -> int | None:
        """The number of the process."""
        return self._process.pid

    def put(self, question: Any) -> None:
        """Sends a question, to a new process if the last one has ended by itself."""
        if self._ended:
            self.restart()
        self._connection.send(question)

    def answers(self) -> list[Any]:
        """The answers that have come since the last call, as pairs of question and answer.

        A process that has ended, as an agent may end it, gives a `Failure` without a question.
        """
        found: list[tuple[Any, Any]] = []
        try:
            while not self._ended and self._connection.poll():
                found.append(self._connection.recv())
        except (EOFError, OSError):
            self._ended = True
            found.append((None, Failure("its process ended")))
        return found

    def restart(self) -> None:
        """Gives up the question in work, by a new process."""
        self.close()
        self._start()

    def close(self) -> None:
        """Ends the process, also in mid-thought."""
        self._process.kill()
        self._process.join()
        self._process.close()
        self._connection.close()


def _serve(connection: Any, service: Service, argument: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the window, which then ends this process
    Thread(target=_end_with_the_window, daemon=True).start()
    answer = service(connection, argument)
    try:
        while True:
            question = connection.recv()
            for found in answer(question):
                connection.send((question, found))
    except (EOFError, OSError):
        return  # the window is gone


def _end_with_the_window() -> None:
    """Ends this process, whatever it is at, when the window's is gone, even if that was killed."""
    window = parent_process()
    assert window
    wait([window.sentinel])
    os._exit(0)


def player(_connection: Any, spec: str) -> Callable[[Any], Iterator[Any]]:
    """The service of an agent: a column, or a `Failure`, for a `Move`."""
    try:
        agent = load_agent(spec)
    except Exception as error:  # whatever a module does when it is loaded
        message = str(error) if isinstance(error, InputError) else f"cannot be loaded: {error!r}"
        return lambda question: iter([Failure(message)] if isinstance(question, Move) else [])
    heard = overhear(agent)

    def answer(question: Move | Explain) -> Iterator[int | Failure]:
        if isinstance(question, Explain):
            _print_explanation(question, heard[-1] if heard and question.own else None)
            return
        heard.clear()
        try:
            yield ask(agent, question.position.board, question.seconds)
        except AgentError as error:
            yield Failure(str(error))

    return answer


def _print_explanation(question: Explain, found: Any) -> None:
    position = question.position
    before = Board.from_moves(position.moves[:-1], position.rows, position.columns, position.inarow)
    print(explain(before, position.moves[-1], question.player, question.depth, found), flush=True)


class Interrupted(Exception):  # noqa: N818 - it is no error
    """The time is over, or there is another question."""


def analyst(connection: Any, _argument: str) -> Callable[[Any], Iterator[Values]]:
    """The service of the analysis: better and better `Values` for a `Position`, at last exact ones."""
    native = _NativeAnalysis()

    def answer(position: Position) -> Iterator[Values]:
        board = position.board
        found = native.values(board)
        if not found:
            deadline = now() + ESTIMATE_SECONDS
            with suppress(Interrupted):
                yield from estimates(board, lambda: now() > deadline or connection.poll())
        end = now() + EXACT_SECONDS
        while native.usable and not found and now() < end and not connection.poll():
            found = native.values(board)
        if found:
            yield found

    return answer


class _NativeAnalysis:
    """The exact values of the columns from the native core, in slices of time.

    What one slice has learnt serves the next one, so that hard positions are solved too. `usable` says
    whether the core is there and plays boards of the size last asked for.
    """

    def __init__(self) -> None:
        self.usable = True
        self._solver: NativeSolver | None = None

    def values(self, board: Board) -> Values | None:
        """The values, None where they are not found in this slice. Boards are all of one size."""
        self.usable = self.usable and fits(board)
        if not self.usable:
            return None
        shape = board.geometry
        try:
            self._solver = self._solver or NativeSolver(shape.rows, shape.columns, shape.inarow)
            found = self._solver.column_scores(board, deadline=now() + SLICE_SECONDS)
        except NativeError as error:
            print(f"warning: the analysis has to estimate: {error}", file=sys.stderr)
            self.usable = False
            return None
        except OutOfTimeError:
            return None
        scores = {column: float(score) for column, score in enumerate(found) if score is not None}
        return Values(scores, frozenset(scores), shape.cells - board.ply)


def estimates(board: Board, stop: Callable[[], Any]) -> Iterator[Values]:
    """Heuristic values of the columns 1, 2, 3 ... moves deep, until all are proven.

    Raises `Interrupted` as soon as `stop` says so, which is asked now and then.
    """
    evaluate = _evaluation(stop)
    cells = board.geometry.cells
    for depth in range(1, cells - board.ply + 1):
        scores: dict[int, float] = {}
        exact = set()
        for column in board.legal_moves():
            child = board.play(column)
            value = _value(child, depth - 1, board.turn, evaluate)
            scores[column] = value
            if abs(value) > WIN / 2:
                score = board.geometry.win_score(int(WIN - abs(value)))
                scores[column] = score if value > 0 else -score
            if abs(value) > WIN / 2 or child.is_over or depth == cells - board.ply:
                exact.add(column)
        values = Values(scores, frozenset(exact), depth)
        yield values
        if values.all_exact:
            return


def _value(board: Board, depth: int, player: int, evaluate: Callable[[Board, int], float]) -> float:
    """The value for `player` of a position in which the opponent is to move."""
    if not depth or board.is_over:
        return evaluate(board, player)
    return -alpha_beta(board, depth, lambda game, other: -evaluate(game, 3 - other)).value


def _evaluation(stop: Callable[[], Any]) -> Callable[[Board, int], float]:
    calls = 0

    def evaluate(board: Board, player: int) -> float:
        nonlocal calls
        calls += 1
        if calls % LOOK == 0 and stop():
            raise Interrupted
        if board.winner:
            return float((WIN - board.ply) * (1 if board.winner == player else -1))
        return 0.0 if board.is_draw else float(evaluate_windows(board, player, WEIGHTS))

    return evaluate
