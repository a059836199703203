"""Games and moves against perfect play: the exact score of every column, and what a move gave away.

Scores are Pascal Pons', from the side to move: 0 a draw; positive a win, 1 with the last own disc, 2 with the
one before; negative a loss likewise. What is solved can be kept in a file, so that it is solved once only.

Such a memory is a file of JSON lines, one a position, in no order; a line that is cut off is passed over:

    board    its size, "6x7x4": rows, columns, inarow
    key      the position in hexadecimal: the bitboard of the side to move plus that of all discs (see
             `engine.board`); of two mirror images the smaller one
    scores   of its columns, null for a full one; or null where the position was not solved
    seconds  only there: how long that was tried
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from itertools import islice
from math import nan
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar

from engine.board import Board
from engine.clock import now
from engine.native.solver import fits
from engine.oracle import Oracle
from engine.solver import OutOfTimeError
from evaluation import console, stats
from evaluation.archive import GAMES_FILE
from evaluation.records import GameRecord
from evaluation.replays import RecordedGame
from evaluation.workers import WorkerError, workers

Key = TypeVar("Key")
Asked = TypeVar("Asked")
Found = TypeVar("Found")

Scores = tuple[int | None, ...]
"""The exact score of each column for the side to move; None for a full one, all None once a game is over."""

PHASES = ("begin", "middle", "end")
"""Thirds of the board's cells: on the standard board up to 13, 27 and 41 discs."""

MEMORY_FILE = "analysis.jsonl"
"""What has been solved of a tournament's games, in its folder."""

SECONDS = 10.0
"""How long a position may take. On the standard board none takes half as long with the native core."""
MEGABYTES = 64
BATCH = 8
"""Games sent to a process at once: neighbours in a tournament come from one opening and share positions."""


def phase(ply: int, cells: int) -> str:
    """The phase in which a board of so many cells has `ply` discs."""
    return PHASES[min(3 * ply // cells, 2)]


def sign(score: int) -> int:
    """What a score is worth: 1 a win, 0 a draw, -1 a loss."""
    return (score > 0) - (score < 0)


class Analyst:
    """Exact scores of the positions of one size of board. Not to be used by two threads at once.

    Attributes:
        lacks: why positions cannot be solved, or not as fast as elsewhere, in a line; empty if they can.
    """

    def __init__(
        self,
        rows: int = 6,
        columns: int = 7,
        inarow: int = 4,
        *,
        seconds: float = SECONDS,
        memory: Path | None = None,
    ) -> None:
        """`seconds` limit a position; `memory` is the file that keeps what is solved, if it is to be kept."""
        self.size = f"{rows}x{columns}x{inarow}"
        self.seconds = seconds
        self.oracle: Oracle | None = None
        self.lacks = f"boards of {rows}x{columns}, inarow {inarow}, are too large to be solved"
        if fits(Board(rows, columns, inarow)):
            self.oracle = Oracle(rows, columns, inarow, MEGABYTES)
            why = self.oracle.lacks
            self.lacks = why and f"{why}; solving in Python, which is some hundred times slower"
        self._memory = _Memory(memory, self.size)

    def scores(self, board: Board) -> Scores | None:
        """The scores of a position; None if it is not solved in time or its size cannot be solved."""
        if (found := self.known(board)) or not self.oracle:
            return found
        key, mirrored = position_key(board)
        if self._memory.tried.get(key, 0.0) >= self.seconds:
            return None
        try:
            found = tuple(self.oracle.solver.column_scores(board, deadline=now() + self.seconds))
        except OutOfTimeError:
            self._memory.give_up(key, self.seconds)
            return None
        self._memory.add(key, found[::-1] if mirrored else found)
        return found

    def known(self, board: Board) -> Scores | None:
        """The scores of a position if no search is needed: they were found before, or are in the book."""
        columns = board.geometry.columns
        if board.is_over:
            return (None,) * columns
        if self.oracle and (book := self.oracle.book) and board.ply < book.plies:
            legal = board.legal_moves()
            return tuple(
                self.oracle.value(board, column) if column in legal else None for column in range(columns)
            )
        key, mirrored = position_key(board)
        found = self._memory.solved.get(key)
        return found[::-1] if found and mirrored else found


def position_key(board: Board) -> tuple[int, bool]:
    """A number that a position shares with its mirror image alone, and whether it is that of the image."""
    twin = board.mirror()
    key, turned = (each.own + (each.own | each.other) for each in (board, twin))
    return min(key, turned), turned < key


class _Memory:
    """A file of solved positions, for one size of board; without a path, a memory that is not kept.

    Each line is written at once, so that several processes may add to one file and a kill costs no more
    than the line that is being written.
    """

    def __init__(self, path: Path | None, size: str) -> None:
        self.path, self.size = path, size
        self.solved: dict[int, Scores] = {}
        self.tried: dict[int, float] = {}
        self._start = ""
        if path and path.exists():
            try:
                self._read(path)
            except OSError as error:
                self._do_without(error)

    def _read(self, path: Path) -> None:
        columns = int(self.size.split("x")[1])
        line = "\n"
        with path.open(encoding="utf-8", errors="replace", newline="\n") as lines:
            for line in lines:
                try:
                    entry = json.loads(line)
                    if entry["board"] != self.size:
                        continue
                    key, scores = int(entry["key"], 16), entry["scores"]
                    if scores is None:
                        self.tried[key] = float(entry["seconds"])
                    elif len(scores) == columns and all(type(each) in (int, NoneType) for each in scores):
                        self.solved[key] = tuple(scores)
                except (ValueError, KeyError, TypeError):
                    continue  # cut off by a kill: it is solved again
        self._start = "" if line.endswith("\n") else "\n"

    def add(self, key: int, scores: Scores) -> None:
        """Keeps the scores of a position."""
        self.solved[key] = scores
        self._write(key, scores=scores)

    def give_up(self, key: int, seconds: float) -> None:
        """Keeps that a position was not solved in so many seconds."""
        self.tried[key] = seconds
        self._write(key, scores=None, seconds=seconds)

    def _write(self, key: int, **facts: Any) -> None:
        if self.path:
            line = self._start + json.dumps({"board": self.size, "key": f"{key:x}", **facts}) + "\n"
            try:
                with self.path.open("ab", buffering=0) as file:
                    file.write(line.encode())
            except OSError as error:
                self._do_without(error)
            self._start = ""

    def _do_without(self, error: OSError) -> None:
        """Goes on without the file, as in a folder that is another's, and says so."""
        console.messages.print(
            f"what is solved is not kept: {self.path}: {error.strerror}", soft_wrap=True, markup=False
        )
        self.path = None


@dataclass(frozen=True)
class JudgedMove:
    """A move, and the exact scores it could have had.

    Attributes:
        ply: discs on the board before it.
        seat: who made it, 0 the first mover, 1 the other.
        column: from 0.
        scores: of every column for the side that made it.
    """

    ply: int
    seat: int
    column: int
    scores: Scores

    @property
    def best(self) -> int:
        """The best score there was."""
        return max(score for score in self.scores if score is not None)

    @property
    def score(self) -> int:
        """The score of the move."""
        score = self.scores[self.column]
        assert score is not None
        return score

    @property
    def lost(self) -> int:
        """What it gave away, 0 for a best move."""
        return self.best - self.score

    @property
    def is_best(self) -> bool:
        """Whether no move had a better score."""
        return not self.lost

    @property
    def keeps_value(self) -> bool:
        """Whether a won position is still won after it, and a drawn one drawn."""
        return sign(self.score) == sign(self.best)


@dataclass(frozen=True)
class Tally:
    """How good moves were; tallies can be added.

    Attributes:
        moves: how many were judged.
        best: how many had the best score.
        kept: how many kept the value: win, draw or loss.
        lost: the score given away by all of them together.
    """

    moves: int = 0
    best: int = 0
    kept: int = 0
    lost: int = 0

    @classmethod
    def of(cls, moves: Iterable[JudgedMove]) -> Tally:
        """The tally of `moves`."""
        return sum((cls(1, int(move.is_best), int(move.keeps_value), move.lost) for move in moves), cls())

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.moves + other.moves, self.best + other.best, self.kept + other.kept, self.lost + other.lost
        )

    @property
    def best_share(self) -> float:
        """The share of best moves, 0 to 1; nan without moves. The same for the next two."""
        return self.best / self.moves if self.moves else nan

    @property
    def kept_share(self) -> float:
        """The share of moves that kept the value."""
        return self.kept / self.moves if self.moves else nan

    @property
    def mean_lost(self) -> float:
        """The mean score given away by a move."""
        return self.lost / self.moves if self.moves else nan

    @property
    def best_interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the share of best moves, of independent positions."""
        return stats.wilson(self.best_share, self.moves) if self.moves else (0.0, 1.0)

    @property
    def kept_interval(self) -> tuple[float, float]:
        """The same of the share of moves that kept the value."""
        return stats.wilson(self.kept_share, self.moves) if self.moves else (0.0, 1.0)


@dataclass(frozen=True)
class GameAnalysis:
    """A game, judged.

    Attributes:
        scores: of every position of the game: the empty board first, the final one, if the game is over all
            None, last; None for a position that was not solved.
        moves: those the agents played (not those of the opening) where the position was solved.
    """

    scores: tuple[Scores | None, ...]
    moves: tuple[JudgedMove, ...]

    def of(self, seat: int | None = None) -> tuple[JudgedMove, ...]:
        """The moves of a seat, or all."""
        return tuple(move for move in self.moves if seat in (None, move.seat))

    def first_mistake(self, seat: int | None = None) -> JudgedMove | None:
        """The first move (of a seat) that did not keep the value."""
        return next((move for move in self.of(seat) if not move.keeps_value), None)

    def accuracy(self, seat: int | None = None) -> Tally:
        """How good the moves (of a seat) were."""
        return Tally.of(self.of(seat))


def analyse(record: GameRecord, analyst: Analyst) -> GameAnalysis:
    """A game judged by an analyst for its size of board.

    It is solved from its end: what is learnt there makes the positions before cheap. Before a position
    that was not solved in time none is tried, for they are harder. Where `episodeSteps` ends the game
    before the board is full, it is another game than the one that can be solved, and nothing is judged.
    """
    settings = record.configuration
    boards = [Board(settings["rows"], settings["columns"], settings["inarow"])]
    for column in record.moves:
        boards.append(boards[-1].play(column))
    scores: list[Scores | None] = [None] * len(boards)
    if settings["episodeSteps"] > boards[0].geometry.cells:
        find = analyst.scores
        for ply in reversed(range(len(boards))):
            scores[ply] = find(boards[ply])
            if scores[ply] is None:
                find = analyst.known
    moves = tuple(
        JudgedMove(ply, ply % 2, record.moves[ply], found)
        for ply in range(len(record.opening), len(record.moves))
        if (found := scores[ply]) is not None
    )
    return GameAnalysis(tuple(scores), moves)


def memory_of(source: Path) -> Path | None:
    """The memory of a tournament, given by its folder or its games; None for any other source."""
    folder = source.parent if source.name == GAMES_FILE else source
    return folder / MEMORY_FILE if (folder / GAMES_FILE).exists() else None


def analyses(
    games: Iterable[RecordedGame],
    *,
    seconds: float = SECONDS,
    memory: Path | None = None,
    jobs: int = 1,
    tell: Callable[[str], None] = lambda _: None,
) -> Generator[tuple[RecordedGame, GameAnalysis]]:
    """Every game with its analysis, in order, as they are done; `jobs` processes solve.

    `tell` is told once, in a line, of each size of board that cannot be solved, or only slowly.
    """
    analysts = _Analysts(seconds, memory)

    def batches() -> Iterator[tuple[list[RecordedGame], list[GameRecord]]]:
        size, rest = 1 if jobs == 1 else BATCH, iter(games)
        while batch := list(islice(rest, size)):
            for game in batch:
                analysts.check(game.record, tell)
            yield batch, [game.record for game in batch]

    with closing(in_order(jobs, analysts, batches())) as judged:
        for batch, found in judged:
            yield from zip(batch, found, strict=True)


def in_order(
    jobs: int, function: Callable[[Asked], Found], questions: Iterable[tuple[Key, Asked]]
) -> Generator[tuple[Key, Found]]:
    """What a function gives for each question, with the question's key, in order; `jobs` processes work.

    Questions are read as processes become free. Raises `WorkerError` where one of them has died.
    """
    flying: deque[tuple[Key, Future[Found]]] = deque()
    with workers(jobs) as place:
        try:
            for key, asked in questions:
                flying.append((key, place.executor.submit(function, asked)))
                if len(flying) >= place.count():
                    first, future = flying.popleft()
                    yield first, future.result()
            while flying:
                first, future = flying.popleft()
                yield first, future.result()
        except BrokenExecutor:
            raise WorkerError("a process that this was divided among has ended: try --jobs 1") from None


class _Analysts:
    """Judges games on boards of any size. Sent to another process, it is the one there, which remembers."""

    def __init__(self, seconds: float, memory: Path | None) -> None:
        self.seconds, self.memory = seconds, memory
        self._by_size: dict[tuple[int, int, int], Analyst] = {}

    def __call__(self, records: Sequence[GameRecord]) -> list[GameAnalysis]:
        return [analyse(record, self._for(record)) for record in records]

    def check(self, record: GameRecord, tell: Callable[[str], None]) -> None:
        """Tells what the analyst of a new size lacks."""
        known = len(self._by_size)
        analyst = self._for(record)
        if len(self._by_size) > known and analyst.lacks:
            tell(analyst.lacks)

    def _for(self, record: GameRecord) -> Analyst:
        settings = record.configuration
        size = settings["rows"], settings["columns"], settings["inarow"]
        if size not in self._by_size:
            self._by_size[size] = Analyst(*size, seconds=self.seconds, memory=self.memory)
        return self._by_size[size]

    def __reduce__(self) -> tuple[Any, ...]:
        return _analysts_here, (self.seconds, self.memory)


@cache
def _analysts_here(seconds: float, memory: Path | None) -> _Analysts:
    """The one of this process."""
    return _Analysts(seconds, memory)
