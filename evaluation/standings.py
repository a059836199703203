"""What a tournament says: scores, ratings, the cross-table, why games ended; as text, HTML and JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from functools import cached_property
from html import escape
from math import isinf
from typing import Any

import numpy as np

from evaluation import tables
from evaluation.archive import Game, GameId
from evaluation.counts import Conduct, Meeting, OpeningCount, interval, turned
from evaluation.ratings import Ratings, UnratedError, rate
from evaluation.records import Ending
from evaluation.result import Tally, board, counted


class TournamentResult:
    """The games of a tournament, counted.

    Attributes:
        names: of the agents.
        settings: as in `tournament.json`.
        meetings: by the indices of two agents, the lower one first.
        openings: which were played.
        conduct: of every agent.
        endings: why games ended.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.settings = settings
        self.names: list[str] = list(settings["agents"])
        sprt = tuple(settings["sprt"]) if settings["sprt"] else None
        self.meetings = {
            (one, two): Meeting(settings["games"], sprt)
            for one in range(1 if settings["gauntlet"] else len(self.names))
            for two in range(one + 1, len(self.names))
        }
        self.openings = OpeningCount((settings["games"] + 1) // 2)
        self.conduct = [Conduct() for _ in self.names]
        self.endings = Counter[Ending]()

    def has(self, id: GameId) -> bool:
        """Whether a game was played."""
        return self.meetings[id.one, id.two].has(id.number)

    def add(self, game: Game) -> None:
        """Takes in a game that has ended, once."""
        vars(self).pop("ratings", None)
        for ready in self.meetings[game.id.one, game.id.two].add(game):
            self.endings[ready.record.ending] += 1
            self.openings.add(ready)
            for seat, agent in enumerate(ready.id.seats):
                self.conduct[agent].add(ready, seat)

    @property
    def planned(self) -> int:
        """How many games there will be at most."""
        return int(self.settings["games"]) * len(self.meetings)

    @property
    def games(self) -> int:
        """How many games count."""
        return sum(meeting.played for meeting in self.meetings.values())

    @property
    def left(self) -> int:
        """How many games are still to be played, at most."""
        return sum(self.settings["games"] - m.played for m in self.meetings.values() if not m.decided)

    @property
    def aborted(self) -> int:
        """How many of them came to no result."""
        return sum(meeting.aborted for meeting in self.meetings.values())

    @property
    def distinct_games(self) -> int:
        """How many differ in a move from every other game of the same two agents."""
        return sum(meeting.distinct_games for meeting in self.meetings.values())

    def outcomes(self, agent: int, other: int | None = None) -> np.ndarray:
        """An agent's pairs by outcome, against one other or all of them."""
        total = np.zeros((4, 4), int)
        for (one, two), meeting in self.meetings.items():
            if agent in (one, two) and (other is None or other in (one, two)):
                total += meeting.outcomes if agent == one else turned(meeting.outcomes)
        return total

    def by_seat(self, agent: int, other: int | None = None) -> tuple[Tally, Tally]:
        """An agent's games moving first and moving second, against one other or all of them."""
        tallies = []
        for seat in (0, 1):
            total = [0, 0, 0]
            for (one, two), meeting in self.meetings.items():
                if agent in (one, two) and (other is None or other in (one, two)):
                    tally = meeting.by_seat[seat] if agent == one else meeting.by_seat[1 - seat][::-1]
                    total = list(map(sum, zip(total, tally, strict=True)))
            tallies.append(Tally(*total))
        return tallies[0], tallies[1]

    def total(self, agent: int, other: int | None = None) -> Tally:
        """An agent's games, against one other or all of them."""
        return Tally(*map(sum, zip(*self.by_seat(agent, other), strict=True)))

    @cached_property
    def ratings(self) -> Ratings:
        """Ratings of all agents with error bars, the anchor at 0. Raises `UnratedError`."""
        anchor = self.names.index(self.settings["anchor"])
        return rate(self.names, {key: meeting.outcomes for key, meeting in self.meetings.items()}, anchor)

    @property
    def order(self) -> list[int]:
        """The agents, the strongest first: by rating, by score where there is none."""

        def strength(agent: int) -> tuple[float, float]:
            total = self.total(agent)
            score = total.score if sum(total) else -1.0
            try:
                return self.ratings.agents[agent].elo, score
            except UnratedError:
                return 0.0, score

        return sorted(range(len(self.names)), key=strength, reverse=True)

    def __bool__(self) -> bool:
        return self.games > 0

    def to_json(self) -> str:
        """Everything but the games as one JSON object, on one line."""
        try:
            ratings: Any = {
                "agents": {
                    name: _finite(asdict(r)) for name, r in zip(self.names, self.ratings.agents, strict=True)
                },
                "first_move": _finite(asdict(self.ratings.first_move)),
            }
        except UnratedError:
            ratings = None
        return json.dumps(
            {
                "settings": self.settings,
                "games": self.games,
                "aborted": self.aborted,
                "distinct_games": self.distinct_games,
                "openings": self.openings.facts(),
                "endings": self.endings,
                "ratings": ratings,
                "agents": {name: self._agent_facts(agent) for agent, name in enumerate(self.names)},
                "meetings": [
                    self._meeting_facts(one, two, meeting) for (one, two), meeting in self.meetings.items()
                ],
            }
        )

    def _agent_facts(self, agent: int) -> dict[str, Any]:
        first, second = self.by_seat(agent)
        return {
            **_score(self.total(agent), self.outcomes(agent)),
            "as_first": first._asdict(),
            "as_second": second._asdict(),
            "forfeits": self.conduct[agent].forfeits,
            "seconds": self.conduct[agent].times._asdict(),
        }

    def _meeting_facts(self, one: int, two: int, meeting: Meeting) -> dict[str, Any]:
        facts = {"agents": [self.names[one], self.names[two]], **_score(meeting.total, meeting.outcomes)}
        if meeting.test:
            facts |= {"pairs": meeting.test.counts, "llr": meeting.test.llr, "verdict": meeting.test.verdict}
        return facts

    def __repr__(self) -> str:
        return f"<TournamentResult {self.title}>"

    def __str__(self) -> str:
        parts = [self.title, *map(tables.as_text, self._tables()), tables.notes_as_text(self._notes())]
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        body = "".join(map(tables.as_html, self._tables()))
        return f"<p><b>{escape(self.title)}</b></p>{body}{tables.notes_as_html(self._notes())}"

    @property
    def title(self) -> str:
        """What was played, in a line."""
        kind = "gauntlet" if self.settings["gauntlet"] else "round robin"
        return f"{kind} of {len(self.names)} agents, {self.games} games"

    def _tables(self) -> list[list[list[str]]]:
        found = [self._standings()]
        if len(self.names) > 2:
            found.append(self._cross_table())
        if self.settings["sprt"]:
            found.append(self._tests())
        return found

    def _standings(self) -> list[list[str]]:
        """A row an agent, the strongest first."""
        rows = [
            ["", "rating", "95 %", "games", "score", "95 %", "as first", "as second", "ms a move", "longest"]
        ]
        for place, agent in enumerate(self.order, 1):
            first, second = self.by_seat(agent)
            times = self.conduct[agent].times
            rows.append(
                [
                    f"{place} {self.names[agent]}",
                    *self._rating(agent),
                    str(sum(self.total(agent))),
                    share(self.total(agent)),
                    bounds(interval(self.outcomes(agent))),
                    share(first),
                    share(second),
                    f"{1000 * times.mean:.3g}",
                    f"{1000 * times.longest:.3g}",
                ]
            )
        return rows

    def _rating(self, agent: int) -> list[str]:
        try:
            rating = self.ratings.agents[agent]
        except UnratedError:
            return ["-", "-"]
        if self.names[agent] == self.settings["anchor"]:
            return ["0", "anchor"]
        return [elo(rating.elo), f"{elo(rating.low)} to {elo(rating.high)}"]

    def _cross_table(self) -> list[list[str]]:
        """Scores of the rows' agents against the columns', in percent."""
        order = self.order
        rows = [["score in %", *(f"{place}" for place in range(1, len(order) + 1))]]
        for place, agent in enumerate(order, 1):
            scores = [
                ""
                if agent == other or not sum(tally := self.total(agent, other))
                else f"{100 * tally.score:.1f}"
                for other in order
            ]
            rows.append([f"{place} {self.names[agent]}", *scores])
        return rows

    def _tests(self) -> list[list[str]]:
        """A row a test."""
        rows = [["test", "pairs", "score", "LLR", "verdict"]]
        for (one, two), meeting in self.meetings.items():
            test = meeting.test
            assert test is not None
            verdict = "none yet" if test.verdict is None else f"score {test.verdict:g}"
            label = f"{self.names[one]} against {self.names[two]}"
            rows.append([label, str(sum(test.counts)), share(meeting.total), f"{test.llr:.2f}", verdict])
        return rows

    def _openings(self) -> str:
        """Of which kind they are, and what falls short of that."""
        plies, kind = self.settings["opening_plies"], self.settings["openings"]
        if not plies:
            return str(kind)
        facts = self.openings.facts()
        if kind == "balanced" and facts["lopsided"] + facts["unknown"]:
            kinds = [
                (facts["drawn"], "drawn"),
                (facts["lopsided"], f"as near to it as there are (exact score up to {facts['worst']})"),
                (facts["unknown"], "random"),
            ]
            kind = ", ".join(f"{count} {what}" for count, what in kinds if count)
        repeated = facts["repeated"]
        return f"{kind}, {plies} discs" + (
            f"; {repeated} pairs repeat one: there are no more" * bool(repeated)
        )

    def _notes(self) -> list[tuple[str, str]]:
        """The lines below the tables: a label of at most 14 characters and what there is to say."""
        try:
            first = self.ratings.first_move
            ratings = [("first move", f"worth {elo(first.elo)} Elo ({elo(first.low)} to {elo(first.high)})")]
        except UnratedError as error:
            ratings = [("ratings", str(error))]
        notes = [*ratings, ("games ended by", counted(self.endings) or "-")]
        if self.aborted:
            notes.append(("aborted", f"{self.aborted} games came to no result and count for nobody"))
        for name, conduct in zip(self.names, self.conduct, strict=True):
            if conduct.forfeits:
                example = " (game {}: {})".format(*conduct.first_error) if conduct.first_error else ""
                notes.append(("forfeits", f"{name}: {counted(conduct.forfeits)}{example}"))
        replayed = self.games - self.distinct_games
        notes += [
            ("distinct games", f"{self.distinct_games}" + f" ({replayed} replayed)" * bool(replayed)),
            ("openings", self._openings()),
        ]
        if self.settings.get("trusted"):
            notes.append(("isolation", "none: agents given as files ran in the processes that played"))
        if sprt := self.settings["sprt"]:
            notes.append(("test", f"score {sprt[0]:g} against {sprt[1]:g}, ends at LLR -2.94 or 2.94"))
        settings = self.settings
        games = f"{settings['referee']} referee, seed {settings['seed']}, {board(settings['configuration'])}"
        return [*notes, ("played with", games)]


def _score(tally: Tally, outcomes: np.ndarray) -> dict[str, Any]:
    score = tally.score if sum(tally) else None
    return {**tally._asdict(), "score": score, "interval": interval(outcomes)}


def _finite(values: Mapping[str, float]) -> dict[str, float | str]:
    """JSON knows no infinity."""
    return {name: str(value) if isinf(value) else value for name, value in values.items()}


def share(tally: Tally) -> str:
    """The score in percent."""
    return f"{100 * tally.score:.1f}" if sum(tally) else "-"


def bounds(ends: tuple[float, float]) -> str:
    """An interval of scores in percent."""
    return f"{100 * ends[0]:.1f} to {100 * ends[1]:.1f}"


def elo(points: float) -> str:
    """Elo points with a sign."""
    return f"{round(points):+d}" if not isinf(points) else ("+∞" if points > 0 else "-∞")
