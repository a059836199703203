"""What a report shows: counts of the games, and the games themselves in a short form."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

from evaluation.analysis import PHASES, GameAnalysis, Scores, Tally, phase
from evaluation.records import Ending, GameRecord
from evaluation.replays import RecordedGame
from evaluation.standings import TournamentResult

ENDINGS = {
    Ending.LINE: "line",
    Ending.FULL: "full board",
    Ending.STEPS: "step limit",
    Ending.INVALID: "illegal move",
    Ending.ERROR: "exception",
    Ending.TIMEOUT: "out of time",
    Ending.CRASH: "crash",
    Ending.MEMORY: "out of memory",
    Ending.EXIT: "process ended",
    Ending.SIGNAL: "killed by a signal",
    Ending.OUTPUT: "too much output",
    Ending.PROCESSES: "too many processes",
    Ending.CHANNEL: "broken channel",
    Ending.ABORTED: "no result",
}
"""Endings in words."""

STDERR_SHOWN = 2000
"""How many characters of standard error are shown of a game, from the end: thousands may have some."""

FIRST_COLUMN = "a"
"""Moves are a text with a character a move: this one is column 0, the next in Unicode column 1, ..."""

_COMMON = string.digits + string.ascii_letters + "+-*/()[]{}=!?.:;,#$@_~^|"
_RARE = [chr(0x100 + number) for number in range(50)]
DIGITS = "".join([*_RARE[:25], *_COMMON, *_RARE[25:]])
"""Scores are a text with a character a column; that in the middle is 0. On common boards JSON
needs no escapes for them; the largest to be solved has fewer than 128 cells, scores up to half of that."""
ZERO = len(DIGITS) // 2
FULL_COLUMN, NOT_SOLVED = " ", "%"


@dataclass
class AgentFacts:
    """How one agent played in all games shown.

    Attributes:
        games: how many it played.
        points: how often it got 1, 0.5 and 0 points.
        forfeits: how often it lost by its own fault, by ending.
        first_error: the index of the first game it forfeited with a word on standard error, and the
            last line there.
        accuracy: how good its moves were, by phase.
        seconds: how long each of its calls took.
    """

    games: int = 0
    points: Counter[float] = field(default_factory=Counter)
    forfeits: Counter[Ending] = field(default_factory=Counter)
    first_error: tuple[int, str] | None = None
    accuracy: dict[str, Tally] = field(default_factory=lambda: dict.fromkeys(PHASES, Tally()))
    seconds: list[float] = field(default_factory=list)

    @property
    def total(self) -> Tally:
        """How good its moves were in all phases."""
        return sum(self.accuracy.values(), Tally())

    @property
    def times(self) -> tuple[float, float, float, float]:
        """Median, mean, 99th percentile and longest of its calls, in seconds."""
        seconds = np.array(self.seconds)
        return (
            float(np.median(seconds)),
            float(seconds.mean()),
            float(np.quantile(seconds, 0.99)),
            max(seconds),
        )


class Facts:
    """Everything on the page. Games are added one at a time and only what is shown of them is kept.

    Attributes:
        names: of the agents.
        standings: of the tournament, None for other games.
        agents: how each agent played.
        endings: why games ended.
        games: the games as the page's data, see `_entry`.
        boards: rows, columns and inarow of the boards played on.
        analysed: how many games were judged.
        notes: what is to be said about the analysis.
        last: the game added last, with its analysis.
        limits: seconds a move (`actTimeout`) that were set.
    """

    def __init__(self, names: Iterable[str] = (), standings: TournamentResult | None = None) -> None:
        self.names = list(names)
        self.standings = standings
        self.agents = [AgentFacts() for _ in self.names]
        self.endings = Counter[Ending]()
        self.games: list[dict[str, Any]] = []
        self.boards: list[list[int]] = []
        self.analysed = 0
        self.limits = set[float]()
        self.notes: list[str] = []
        self.last: tuple[RecordedGame, GameAnalysis | None] | None = None
        self._ids = set[str]()

    def add(
        self, game: RecordedGame, analysis: GameAnalysis | None, seats: tuple[int, int] | None = None
    ) -> None:
        """Takes in a game; `seats` are its agents where their names alone do not tell."""
        record = game.record
        seats = seats or (self._agent(game.players[0]), self._agent(game.players[1]))
        self.games.append(self._entry(game, seats, analysis))
        self.endings[record.ending] += 1
        self.limits.add(record.configuration["actTimeout"])
        for agent in {*seats}:
            self.agents[agent].games += 1
        if record.ending is not Ending.ABORTED:
            for seat, agent in enumerate(seats):
                self.agents[agent].points[record.points(seat)] += 1
        if record.culprit is not None:
            culprit = self.agents[seats[record.culprit]]
            culprit.forfeits[record.ending] += 1
            if not culprit.first_error and (lines := record.stderr.strip().splitlines()):
                culprit.first_error = len(self.games) - 1, lines[-1]
        for ply, seconds in enumerate(record.seconds, len(record.opening)):
            self.agents[seats[ply % 2]].seconds.append(seconds)
        if analysis:
            self._judge(analysis, seats, record)
        self.last = game, analysis

    def _agent(self, name: str) -> int:
        """The index of a name, a new one if it was not met before."""
        if name not in self.names:
            self.names.append(name)
            self.agents.append(AgentFacts())
        return self.names.index(name)

    def _judge(self, analysis: GameAnalysis, seats: tuple[int, int], record: GameRecord) -> None:
        cells = record.configuration["rows"] * record.configuration["columns"]
        for move in analysis.moves:
            accuracy = self.agents[seats[move.seat]].accuracy
            accuracy[phase(move.ply, cells)] += Tally.of([move])
        self.analysed += 1

    def _entry(
        self, game: RecordedGame, seats: tuple[int, int], analysis: GameAnalysis | None
    ) -> dict[str, Any]:
        """A game as the page's script reads it. What is missing is left out.

        id: unlike every other; agents: indices, the first mover's first; board: index into `boards`;
        moves, scores: as texts; opening: how many moves were set up; points: the first mover's, null
        without a result; ms: of each call; mistakes: the ply of each seat's first one, or null.
        """
        record = game.record
        settings = record.configuration
        board = [settings["rows"], settings["columns"], settings["inarow"]]
        if board not in self.boards:
            self.boards.append(board)
        entry: dict[str, Any] = {
            "id": self._unused(game.name),
            "agents": seats,
            "board": self.boards.index(board),
            "opening": len(record.opening),
            "moves": move_text(record.moves),
            "ending": record.ending,
            "points": None if record.ending is Ending.ABORTED else record.points(0),
        }
        optional: dict[str, Any] = {
            "culprit": record.culprit,
            "refused": record.refused,
            "ms": [float(f"{1000 * seconds:.3g}") for seconds in record.seconds] or None,
            "stderr": record.stderr[-STDERR_SHOWN:] or None,
        }
        if analysis and any(scores and any_scores(scores) for scores in analysis.scores):
            optional["scores"] = score_text(analysis.scores, board[1])
            mistakes = [analysis.first_mistake(seat) for seat in (0, 1)]
            optional["mistakes"] = [move.ply if move else None for move in mistakes]
        return entry | {name: value for name, value in optional.items() if value is not None}

    def _unused(self, name: str) -> str:
        """The name, with a number behind it if another game has it."""
        names = (name if number == 1 else f"{name} ({number})" for number in count(1))
        name = next(each for each in names if each not in self._ids)
        self._ids.add(name)
        return name

    def data(self) -> dict[str, Any]:
        """What the page's script works on."""
        return {
            "agents": self.names,
            "endings": ENDINGS,
            "firstColumn": FIRST_COLUMN,
            "digits": DIGITS,
            "fullColumn": FULL_COLUMN,
            "notSolved": NOT_SOLVED,
            "boards": self.boards,
            "games": self.games,
        }


def any_scores(scores: Scores) -> bool:
    """Whether a column has a score: none has once a game is over."""
    return any(score is not None for score in scores)


def move_text(moves: Iterable[int]) -> str:
    """Columns as a text, see `FIRST_COLUMN`."""
    return "".join(chr(ord(FIRST_COLUMN) + column) for column in moves)


def score_text(positions: Iterable[Scores | None], columns: int) -> str:
    """The scores of all positions, one after the other, see `DIGITS`."""
    return "".join(
        NOT_SOLVED * columns
        if scores is None
        else "".join(FULL_COLUMN if score is None else DIGITS[ZERO + score] for score in scores)
        for scores in positions
    )
