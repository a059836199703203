"""A submission under restrictions: one at a time, all together, and on other Pythons.

Each condition has a process of its own, which restricts itself (`submission.restricted`) and needs nothing of
Kaggle's. The rules are ours, and the submission plays itself.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, count, islice

from engine.board import Board, format_moves
from submission import judge
from submission.pythons import Python
from submission.report import Condition
from submission.static import Reading
from submission.worker import Event, Worker, WorkerLostError

Tell = Callable[[Event], None]
Start = Callable[[Event, Python | None], Worker]

SLOW = 1 / 8
"""Of actTimeout: who exceeds it by that, on average, uses a tenth of the bank in a full game."""
MOVE_SECONDS = 0.004
"""What actTimeout takes where clocks run faster."""
SHORT_PLIES, SHORT_SECONDS = 8, 4.0
"""How long a game goes on in which times are looked at."""
LONG_SECONDS = 12.0
"""The same for half a processor."""
BATCH = 100
"""The most random positions put to the submission at once."""


@dataclass(frozen=True)
class Restriction:
    """A condition to be tried: its label, the restrictions it consists of, the finding if it matters."""

    label: str
    names: tuple[str, ...]
    finding: str


SINGLE = (
    Restriction("No network", ("network",), "needs-network"),
    Restriction("No folder to write to", ("files",), "needs-files"),
    Restriction("No files in memory", ("memory-files",), "needs-files"),
    Restriction("Neither of the two", ("files", "memory-files"), "needs-files"),
    Restriction("1 GB of memory", ("memory",), "needs-memory"),
    Restriction("Python and numpy only", ("modules",), "foreign-package"),
    Restriction("No environment", ("environment",), "needs-environment"),
    Restriction("Half a processor", ("processor",), "slow-on-half"),
)
OTHER_BOARD = "other-configurations"


@dataclass(frozen=True)
class Wanted:
    """How many random positions to try, and for how many seconds."""

    positions: int
    seconds: float


class _Problem(Exception):  # noqa: N818
    """What goes wrong: what was seen, and its finding if that is not the condition's."""

    def __init__(self, seen: str, name: str | None = None) -> None:
        super().__init__(seen)
        self.seen = seen
        self.name = name


@dataclass
class Conditions:
    """Tries one submission under conditions. None of them raises: what happens is its result.

    Attributes:
        start: makes a process from its first request and the Python that is to run it.
        setup: what each such request holds: `path`, `modules`, `memory` (see `submission.child`).
        reading: what the text of the submission shows.
        act_timeout, overage: Kaggle's seconds for a move, and for the bank of a game.
        boards: boards of other sizes, as (rows, columns, inarow).
    """

    start: Start
    setup: Event
    reading: Reading
    act_timeout: float
    overage: float
    boards: Sequence[tuple[int, int, int]]

    def single(self, restriction: Restriction, tell: Tell, seconds: float) -> Condition:
        """The first moves of a game by the real clock, with `seconds` as actTimeout.

        With half a processor, where time is the question, actTimeout is Kaggle's and the game goes on longer.
        """
        condition = Condition(restriction.label)
        halves = "processor" in restriction.names
        with self.trial(condition, restriction.finding), self.worker(restriction.names) as worker:
            halved = worker.halve() if halves else None
            self.load(worker, condition, tell)
            if halves:
                condition.how = halved or "not possible here: this system cannot stop processes"
            seconds = self.act_timeout if halves else seconds
            plies, limit = (1000, LONG_SECONDS) if halves else (SHORT_PLIES, SHORT_SECONDS)
            moves = self.play(worker, tell, Board(), seconds, time.perf_counter() + limit, plies=plies)
            condition.result = f"played {len(moves)} moves"
            condition.first = max(move["seconds"] for move in moves[:2])
            condition.longest = max((move["seconds"] for move in moves[2:]), default=None)
            condition.said = condition.said or next((move["said"] for move in moves if move["said"]), "")
            overage = sum(max(0.0, move["seconds"] - seconds) for move in moves) / len(moves)
            if halves and overage > SLOW * seconds:
                raise _Problem(f"{overage:.2f} s of overage time a move, in {len(moves)} moves")
        return condition

    def together(
        self, label: str, names: Sequence[str], tell: Tell, wanted: Wanted, python: Python | None = None
    ) -> Condition:
        """Whole games on all boards and random legal positions; clocks run faster, so moves take little.

        Args:
            label: what to call this.
            names: restrictions.
            wanted: how many positions, and in how many seconds; the games may take as long again.
            python: what runs it, if not the running Python.
        """
        condition = Condition(label)
        finding = "other-python" if python else "fails-restricted"
        speed = self.act_timeout / MOVE_SECONDS
        with self.trial(condition, finding, python), self.worker(names, speed, python) as worker:
            self.load(worker, condition, tell)
            end = time.perf_counter() + min(wanted.seconds, LONG_SECONDS)
            self.play(worker, tell, Board(), self.act_timeout, end)
            for shape in self.boards:
                self.play(worker, tell, Board(*shape), self.act_timeout, end, name=OTHER_BOARD)
            cut = " (cut short)" if time.perf_counter() > end else ""
            condition.positions = self.answer(worker, tell, wanted)
            games = f"games on {1 + len(self.boards)} boards{cut}"
            condition.result = f"{games}, {condition.positions:,} random positions"
        return condition

    @contextmanager
    def trial(self, condition: Condition, finding: str, python: Python | None = None) -> Iterator[None]:
        """Make a problem in the block the result of `condition`, and its finding."""
        try:
            yield
        except _Problem as problem:
            condition.result = problem.seen
            if python and not python.numpy and "No module named 'numpy" in problem.seen:
                condition.result = "not tried: it needs numpy, and this Python has none"
            else:
                condition.problem = finding if python else problem.name or finding
        except WorkerLostError as lost:
            if condition.how:
                condition.result, condition.problem = f"the process is lost: {lost}", finding
            else:
                condition.result = f"not tried: the process does not start: {lost}"

    def worker(self, names: Sequence[str], speed: float = 1.0, python: Python | None = None) -> Worker:
        """A process under these restrictions. Raises `WorkerLostError`."""
        return self.start({**self.setup, "restrictions": list(names), "speed": speed}, python)

    def load(self, worker: Worker, condition: Condition, tell: Tell) -> None:
        """Load the file. Raises `_Problem`."""
        loaded = worker.ask("load", tell)
        condition.how = ", ".join(how for _, how in loaded["how"].values())
        condition.partial = [name for name, (complete, _) in loaded["how"].items() if not complete]
        condition.loading, condition.said = loaded["seconds"], loaded["said"]
        if error := loaded["error"]:
            raise _Problem(judge.told(error))

    def play(
        self,
        worker: Worker,
        tell: Tell,
        board: Board,
        seconds: float,
        end: float,
        *,
        plies: int = 1000,
        name: str | None = None,
    ) -> list[Event]:
        """The moves of a game against itself, at most `plies`, begun before `end` but for the first two.

        Raises `_Problem`, with the finding `name` if given.
        """
        shape = board.geometry
        place = f"a game on {shape.rows}x{shape.columns}/{shape.inarow}"
        worker.ask("begin")
        banks, moves = [self.overage, self.overage], list[Event]()
        while not board.is_over and len(moves) < plies and (len(moves) < 2 or time.perf_counter() < end):
            position = {**position_of(board), "bank": banks[board.turn - 1]}
            move = worker.ask("moves", tell, positions=[position], seconds=seconds)["moves"][0]
            if problem := self.problem(move, place):
                raise _Problem(problem[1], name)
            banks[board.turn - 1] -= max(0.0, move["seconds"] - seconds)
            moves.append(move)
            board = board.play(move["column"])
        return moves

    def answer(self, worker: Worker, tell: Tell, wanted: Wanted) -> int:
        """Put random positions to it; how many. Raises `_Problem`."""
        end = time.perf_counter() + wanted.seconds
        positions = islice(chain.from_iterable(map(random_positions, count())), wanted.positions)
        worker.ask("begin")
        answered, size = 0, 1
        while (batch := list(islice(positions, size))) and (start := time.perf_counter()) < end:
            moves = worker.ask("moves", tell, positions=batch, seconds=self.act_timeout)["moves"]
            after = batch[len(moves) - 1]["moves"]
            if problem := self.problem(moves[-1], f"a game of random moves, after {after or 'none'}"):
                name, seen = problem
                raise _Problem(seen, name)
            answered += len(moves)
            size = min(BATCH, 2 * size) if time.perf_counter() - start < 1 else max(1, size // 2)
        return answered

    def problem(self, move: Event, place: str) -> tuple[str, str] | None:
        """What is wrong with a move: its finding and what was seen."""
        return judge.problem({"moves": [move], "statuses": [], "error": None}, place, self.reading)


def position_of(board: Board) -> Event:
    """A board as the child processes take it."""
    shape = board.geometry
    return {
        "rows": shape.rows,
        "columns": shape.columns,
        "inarow": shape.inarow,
        "board": board.to_flat(),
        "step": board.ply,
        "mark": board.turn,
    }


def random_positions(seed: int) -> Iterator[Event]:
    """Positions of a game of random moves, in which the player of seat `seed % 2` is to move."""
    rng = random.Random(seed)
    board, moves = Board(), list[int]()
    while not board.is_over:
        if board.ply % 2 == seed % 2:
            yield {**position_of(board), "moves": format_moves(moves)}
        moves.append(rng.choice(board.legal_moves()))
        board = board.play(moves[-1])
