"""What a match says: counts, the score with its interval, why games ended; as text, HTML and JSON."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from statistics import fmean
from typing import Any, NamedTuple

from evaluation import stats, tables
from evaluation.records import Ending, GameRecord
from evaluation.referee import SETTINGS

BOARD = ("rows", "columns", "inarow")


class Tally(NamedTuple):
    """Games won, drawn and lost by the first-named agent, forfeits included."""

    wins: int
    draws: int
    losses: int

    @property
    def score(self) -> float:
        """Points a game, 0 to 1; nan without games."""
        return stats.score(*self)


class MoveTimes(NamedTuple):
    """How long an agent took for its moves, in seconds; zeros if it was never asked."""

    moves: int
    mean: float
    longest: float


@dataclass(frozen=True, repr=False)
class MatchResult:
    """The games of a match. Every count, the score and its interval are the first-named agent's.

    Attributes:
        names: what the two agents are called.
        seed, referee: as given to `play_match`.
        configuration: all settings of the games, Kaggle's defaults included.
        records: the games by their numbers, from 0. The first-named agent moves first in those with
            even numbers; 0 and 1, 2 and 3, ... are pairs from one opening.
    """

    names: tuple[str, str]
    seed: int
    referee: str
    configuration: Mapping[str, Any]
    records: Mapping[int, GameRecord]

    @property
    def by_seat(self) -> tuple[Tally, Tally]:
        """The games in which the agent moved first, and those in which it moved second."""
        points = (list[float](), list[float]())
        for number, record in self.records.items():
            points[number % 2].append(record.points(number % 2))
        first, second = (Tally(*map(seat.count, (1.0, 0.5, 0.0))) for seat in points)
        return first, second

    @property
    def total(self) -> Tally:
        """All games."""
        first, second = self.by_seat
        return Tally(*map(sum, zip(first, second, strict=True)))

    @property
    def wins(self) -> int:
        """Games won, by the other's forfeit or otherwise."""
        return self.total.wins

    @property
    def draws(self) -> int:
        """Games drawn."""
        return self.total.draws

    @property
    def losses(self) -> int:
        """Games lost, by forfeit or otherwise."""
        return self.total.losses

    @property
    def score(self) -> float:
        """Points a game, 0 to 1; nan without games."""
        return self.total.score

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the score, from pairs of games (see `evaluation.stats`).

        A pair that replays another move for move is no new evidence and is counted once.
        """
        pairs = defaultdict(list)
        for number, record in self.records.items():
            pairs[number // 2].append((record.moves, record.points(number % 2)))
        evidence = [[points for _, points in games] for games in {tuple(pair) for pair in pairs.values()}]
        return stats.score_interval(
            sorted(fmean(points) for points in evidence if len(points) == 2),
            sorted(points[0] for points in evidence if len(points) == 1),
        )

    @property
    def endings(self) -> Counter[Ending]:
        """Why the games ended."""
        return Counter(record.ending for record in self.records.values())

    @property
    def forfeits(self) -> tuple[Counter[Ending], Counter[Ending]]:
        """The games each agent lost by what it did wrong, by how."""
        counts = Counter[Ending](), Counter[Ending]()
        for number, record in self.records.items():
            if record.culprit is not None:
                counts[_swap(number, record.culprit)][record.ending] += 1
        return counts

    @property
    def distinct_games(self) -> int:
        """How many different games, move for move, the result rests on."""
        return len({record.moves for record in self.records.values()})

    @property
    def distinct_openings(self) -> int:
        """From how many openings the games were played."""
        return len({record.opening for record in self.records.values()})

    @property
    def times(self) -> tuple[MoveTimes, MoveTimes]:
        """How long the agents took for a move."""
        seconds = (list[float](), list[float]())
        for number, record in self.records.items():
            for call, duration in enumerate(record.seconds, len(record.opening)):
                seconds[_swap(number, call % 2)].append(duration)
        first, second = (MoveTimes(len(s), fmean(s or [0.0]), max(s, default=0.0)) for s in seconds)
        return first, second

    def __bool__(self) -> bool:
        return bool(self.records)

    def to_json(self) -> str:
        """Everything but the games as one JSON object, on one line."""
        first, second = self.by_seat
        low, high = self.interval
        return json.dumps(
            {
                "agents": self.names,
                "games": len(self.records),
                "seed": self.seed,
                "referee": self.referee,
                "configuration": self.configuration,
                **self.total._asdict(),
                "score": self.score if self.records else None,
                "interval": [low, high],
                "as_first": first._asdict(),
                "as_second": second._asdict(),
                "endings": self.endings,
                "forfeits": self.forfeits,
                "distinct_games": self.distinct_games,
                "distinct_openings": self.distinct_openings,
                "seconds": [times._asdict() for times in self.times],
            }
        )

    def __repr__(self) -> str:
        score = stats.percentage(self.score) if self.records else "nothing"
        return f"<MatchResult {self._title()}: {score} of {len(self.records)} games>"

    def __str__(self) -> str:
        return "\n".join(
            [self._title(), "", tables.as_text(self._table()), "", tables.notes_as_text(self._notes())]
        )

    def _repr_html_(self) -> str:
        title = f"<p><b>{escape(self._title())}</b></p>"
        return title + tables.as_html(self._table()) + tables.notes_as_html(self._notes())

    def _title(self) -> str:
        return f"{self.names[0]} against {self.names[1]}"

    def _table(self) -> list[list[str]]:
        """Wins, draws, losses and score by seat, under a row of headings."""
        first, second = self.by_seat
        seats = (("moving first", first), ("moving second", second), ("all games", self.total))
        return [["", "wins", "draws", "losses", "score"]] + [
            [name, *map(str, tally), stats.percentage(tally.score) if sum(tally) else "-"]
            for name, tally in seats
        ]

    def _notes(self) -> list[tuple[str, str]]:
        """The lines below the table: a label of at most 14 characters and what there is to say."""
        low, high = self.interval
        replayed = len(self.records) - self.distinct_games
        return [
            ("95 % interval", f"{stats.percentage(low)} to {stats.percentage(high)}"),
            ("games ended by", counted(self.endings)),
            *(
                ("forfeits", f"{name}: {counted(forfeits)}{self._first_error(agent)}")
                for agent, (name, forfeits) in enumerate(zip(self._labels(), self.forfeits, strict=True))
                if forfeits
            ),
            ("distinct games", f"{self.distinct_games}" + (f" ({replayed} replayed)" if replayed else "")),
            ("openings", f"{self.distinct_openings}"),
            *(
                ("ms a move", f"{name}: {1000 * mean:.3g}, longest {1000 * longest:.3g}")
                for name, (_, mean, longest) in zip(self._labels(), self.times, strict=True)
            ),
            ("played with", f"{self.referee} referee, seed {self.seed}, {board(self.configuration)}"),
        ]

    def _first_error(self, agent: int) -> str:
        """What the agent's first error said, with the number of the game (from 1)."""
        for number, record in self.records.items():
            if record.culprit == _swap(number, agent) and (error := last_error(record)):
                return f" (game {number + 1}: {error})"
        return ""

    def _labels(self) -> tuple[str, str]:
        """The names, told apart where an agent plays itself."""
        one, two = self.names
        return (one, two) if one != two else (f"{one} (1)", f"{two} (2)")


def last_error(record: GameRecord) -> str:
    """What was written last in a game that ended with an agent's error, if it did."""
    if not record.ending.is_forfeit or record.ending in (Ending.INVALID, Ending.TIMEOUT):
        return ""
    return (record.stderr.strip().splitlines() or ["nothing on standard error"])[-1]


def board(settings: Mapping[str, Any]) -> str:
    """The size of the board and whatever else differs from Kaggle's settings."""
    others = (f"{k} {v}" for k, v in settings.items() if k not in BOARD and v != SETTINGS.get(k, [None])[0])
    return ", ".join(["{rows}x{columns} board, inarow {inarow}".format(**settings), *others])


def _swap(number: int, index: int) -> int:
    """The agent (0 or 1) in the seat `index` in game `number`; just so, the seat of the agent `index`."""
    return (number + index) % 2


def counted(counter: Counter[Ending]) -> str:
    """How often each ending occurred, the most frequent first."""
    ordered = sorted(counter.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{ending} {count}" for ending, count in ordered)
