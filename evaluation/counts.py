"""The games of a tournament counted and forgotten: results, openings and conduct, at 13 bytes a game."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np

from evaluation import stats
from evaluation.archive import Game, GameId
from evaluation.ratings import NO_GAME
from evaluation.records import Ending
from evaluation.result import MoveTimes, Tally, last_error

OPEN = 4  # a game still to be played
NOT_KNOWN, NOT_PLAYED = -1, -2  # in place of an opening's imbalance


class Meeting:
    """The games of two agents, seen from the first-named one.

    With a test, games count pair by pair in the order of their numbers, up to the verdict: so it does not
    depend on the order in which games end, and those that were under way at the verdict do not count.
    """

    def __init__(self, games: int, sprt: tuple[float, float] | None) -> None:
        self.test = stats.Sprt(*sprt) if sprt else None
        self.decided = False
        self._halves = bytearray([OPEN]) * games  # of a point, or NO_GAME or OPEN
        self._moves = array("Q", bytes(8 * games))  # a hash of each game's moves
        self._held: dict[int, Game] = {}
        self._next = 0

    def has(self, number: int) -> bool:
        """Whether a game was played."""
        return self._halves[number] != OPEN or number in self._held

    def add(self, game: Game) -> Iterable[Game]:
        """Takes in a game; returns those that are to be counted by now."""
        if self.test is None:
            self._count(game)
            return [game]
        self._held[game.id.number] = game
        ready = []
        while not self.decided and self._next in self._held and (partner := self._next + 1) in self._held:
            pair = [self._held.pop(self._next), self._held.pop(partner)]
            halves = [self._count(game) for game in pair]
            if NO_GAME not in halves:
                self.test.add(sum(halves) / 4)
            self.decided = self.test.verdict is not None
            self._next += 2
            ready += pair
        return ready

    def _count(self, game: Game) -> int:
        number, record = game.id.number, game.record
        halves = NO_GAME if record.ending is Ending.ABORTED else round(2 * record.points(number % 2))
        self._halves[number] = halves
        self._moves[number] = _hash(record.moves)
        return halves

    @property
    def outcomes(self) -> np.ndarray:
        """Pairs by outcome, as `evaluation.ratings.Outcomes`; one that replays another counts once."""
        halves = np.minimum(np.frombuffer(_even(self._halves), np.uint8), NO_GAME).reshape(-1, 2)
        moves = np.frombuffer(self._moves, np.uint64)
        moves = np.append(moves, np.zeros(len(moves) % 2, np.uint64)).reshape(-1, 2)
        halves = halves[np.unique(moves, axis=0, return_index=True)[1]]
        table = np.bincount(4 * halves[:, 0] + halves[:, 1], minlength=16).reshape(4, 4)
        table[NO_GAME, NO_GAME] = 0
        return table

    @property
    def by_seat(self) -> tuple[Tally, Tally]:
        """The games in which the first-named agent moved first, and those in which it moved second."""
        first, second = (Counter(self._halves[seat::2]) for seat in (0, 1))
        return Tally(first[2], first[1], first[0]), Tally(second[2], second[1], second[0])

    @property
    def total(self) -> Tally:
        """All games that have a result."""
        return Tally(*map(sum, zip(*self.by_seat, strict=True)))

    @property
    def aborted(self) -> int:
        """Games that came to no result."""
        return self._halves.count(NO_GAME)

    @property
    def played(self) -> int:
        """All games that are counted."""
        return len(self._halves) - self._halves.count(OPEN)

    @property
    def distinct_games(self) -> int:
        """How many games differ in a move."""
        moves = np.frombuffer(self._moves, np.uint64)
        return len(np.unique(moves[np.frombuffer(self._halves, np.uint8) != OPEN]))


def _hash(moves: tuple[int, ...]) -> int:
    """64 bits, the same in every process."""
    return int.from_bytes(blake2b(bytes(str(moves), "ascii"), digest_size=8).digest())


def _even(halves: bytearray) -> bytes:
    return bytes(halves) + bytes([OPEN]) * (len(halves) % 2)


def interval(outcomes: np.ndarray) -> tuple[float, float]:
    """The 95 % interval of the score that pairs by outcome stand for."""
    pairs, singles = Counter[float](), Counter[float]()
    for (first, second), count in np.ndenumerate(outcomes):
        if NO_GAME not in (first, second):
            pairs[(first + second) / 4] += int(count)
        elif (first, second) != (NO_GAME, NO_GAME):
            singles[min(first, second) / 2] += int(count)
    return stats.counted_interval(pairs, singles)


def turned(outcomes: np.ndarray) -> np.ndarray:
    """The same pairs seen from the other agent."""
    other = [2, 1, 0, NO_GAME]
    return outcomes.T[np.ix_(other, other)]


class OpeningCount:
    """From which openings the pairs were played. Every two agents have the same ones."""

    def __init__(self, pairs: int) -> None:
        self._moves = array("Q", bytes(8 * pairs))  # a hash of each pair's opening
        self._imbalance = array("b", [NOT_PLAYED]) * pairs

    def add(self, game: Game) -> None:
        """Takes in a game."""
        pair = game.id.number // 2
        self._moves[pair] = _hash(game.record.opening)
        self._imbalance[pair] = NOT_KNOWN if game.imbalance is None else game.imbalance

    def facts(self) -> dict[str, int]:
        """How many there are, by kind.

        distinct: different ones. repeated: pairs with one that an earlier pair had.
        drawn, lopsided, unknown: of the distinct ones those that are exactly drawn, those that are not, and
        those of which nobody knows. worst: the imbalance of the worst of the lopsided ones.
        """
        imbalance = np.frombuffer(self._imbalance, np.int8)
        played = imbalance != NOT_PLAYED
        first = np.unique(np.frombuffer(self._moves, np.uint64)[played], return_index=True)[1]
        distinct = imbalance[played][first]
        return {
            "distinct": len(distinct),
            "repeated": int(played.sum()) - len(distinct),
            "drawn": int((distinct == 0).sum()),
            "lopsided": int((distinct > 0).sum()),
            "unknown": int((distinct == NOT_KNOWN).sum()),
            "worst": int(distinct.max(initial=0)),
        }


@dataclass
class Conduct:
    """How an agent behaved: how it lost by its own fault, its error in the first such game, its time."""

    forfeits: Counter[Ending] = field(default_factory=Counter)
    first_error: tuple[GameId, str] | None = None
    moves: int = 0
    seconds: float = 0.0
    longest: float = 0.0

    def add(self, game: Game, seat: int) -> None:
        """Takes in what the agent did in `seat` of a game."""
        record = game.record
        seconds = record.seconds[(seat - len(record.opening)) % 2 :: 2]
        self.moves += len(seconds)
        self.seconds += sum(seconds)
        self.longest = max(self.longest, *seconds, 0.0)
        if record.culprit == seat:
            self.forfeits[record.ending] += 1
            if (error := last_error(record)) and (not self.first_error or game.id < self.first_error[0]):
                self.first_error = game.id, error

    @property
    def times(self) -> MoveTimes:
        """How long it took for its moves."""
        return MoveTimes(self.moves, self.seconds / max(1, self.moves), self.longest)
