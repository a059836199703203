"""Move accuracy of an agent: its answers to positions whose exact scores are known.

Each position is a game of its own to the agent: it is loaded anew, and its random generators are seeded by
the position's number. What is no move counts as a loss at once, the lowest score there is.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from engine.board import Board
from evaluation import console, tables
from evaluation.analysis import PHASES, JudgedMove, Tally, in_order, phase
from evaluation.isolation import needs_isolation, open_agent
from evaluation.judgements import (
    HEADINGS,
    Mistake,
    boards,
    facts,
    milliseconds,
    percent,
    ply_grid,
    row,
    total,
    worst,
)
from evaluation.loading import Agent, agent_name, is_file, load_agent
from evaluation.positions import CELLS, POSITIONS, Position, read_positions
from evaluation.records import Ending
from evaluation.referee import Forfeit, Seat, complete
from evaluation.result import MoveTimes, counted
from evaluation.workers import check_agents, check_numbers, generators_kept, isolation_told, seed_of

TIMEOUTS = 3
"""So many positions in a row without an answer in time end the examination: each may take a minute."""


SHOWN = 2
"""How many of the worst moves are shown."""


class AccuracyInterrupted(KeyboardInterrupt):
    """Ctrl-C during an examination. `result` holds the answers given by then, perhaps none."""

    def __init__(self, result: AgentAccuracy) -> None:
        super().__init__(f"interrupted after {len(result.answers)} positions")
        self.result = result


class Reply(NamedTuple):
    """What an agent did with a position.

    Attributes:
        column: its move, from 0; None where it made none.
        ending: why it made none.
        seconds: how long it took; None for a crash. Loading a file is part of it, as on Kaggle.
        stderr: what it wrote.
    """

    column: int | None
    ending: Ending | None
    seconds: float | None
    stderr: str


@dataclass(frozen=True)
class Answer:
    """A reply, and the position it is to."""

    position: Position
    reply: Reply

    @property
    def move(self) -> JudgedMove | None:
        """The move, judged; None where there is none."""
        board, column = self.position.board, self.reply.column
        if column is None:
            return None
        return JudgedMove(board.ply, board.turn - 1, column, self.position.scores)

    @property
    def tally(self) -> Tally:
        """What it counts."""
        if move := self.move:
            return Tally.of([move])
        board = self.position.board
        at_once = -board.geometry.win_score(board.ply + 2)
        return Tally(1, 0, 0, self.position.best - at_once)


@dataclass(frozen=True, repr=False)
class AgentAccuracy:
    """How well an agent answered.

    Attributes:
        name: what it is called.
        seed, configuration: as given to `examine`.
        source: where the positions are from.
        asked: how many there were to be answered.
        answers: in the order of the positions.
        stop: why they ended early; empty if they did not.
    """

    name: str
    seed: int
    configuration: Mapping[str, Any]
    source: str
    asked: int
    answers: tuple[Answer, ...]
    stop: str = ""

    @cached_property
    def by_ply(self) -> dict[int, Tally]:
        """The answers by the number of discs on the board."""
        found = defaultdict[int, Tally](Tally)
        for answer in self.answers:
            found[answer.position.board.ply] += answer.tally
        return dict(sorted(found.items()))

    @property
    def by_phase(self) -> dict[str, Tally]:
        """The answers of each phase."""
        found = dict.fromkeys(PHASES, Tally())
        for ply, tally in self.by_ply.items():
            found[phase(ply, CELLS)] += tally
        return found

    @property
    def tally(self) -> Tally:
        """All answers."""
        return total(self.by_ply.values())

    @property
    def failures(self) -> Counter[Ending]:
        """Answers that were no move, by what they were."""
        return Counter(answer.reply.ending for answer in self.answers if answer.reply.ending)

    @property
    def slow(self) -> int:
        """How many answers took longer than `actTimeout`: in a game they use up the bank of time."""
        limit = self.configuration["actTimeout"]
        return sum((answer.reply.seconds or 0.0) > limit for answer in self.answers)

    @property
    def times(self) -> MoveTimes:
        """How long the answers took."""
        seconds = [answer.reply.seconds for answer in self.answers if answer.reply.seconds is not None]
        return MoveTimes(len(seconds), fmean(seconds or [0.0]), max(seconds, default=0.0))

    def worst(self, count: int) -> list[Mistake]:
        """The moves that lost most, the worst first."""
        moves = ((answer.position, move) for answer in self.answers if (move := answer.move))
        return worst(
            (Mistake(f"position {position.number}", position.board, move) for position, move in moves), count
        )

    def __bool__(self) -> bool:
        return bool(self.answers)

    def to_json(self) -> str:
        """Everything as one JSON object, on one line."""
        return json.dumps(
            {
                "agent": self.name,
                "positions": self.source,
                "asked": self.asked,
                "stop": self.stop or None,
                "seed": self.seed,
                "configuration": self.configuration,
                **facts(self.tally),
                "by_phase": {name: facts(tally) for name, tally in self.by_phase.items()},
                "by_ply": {ply: facts(tally) for ply, tally in self.by_ply.items()},
                "failures": self.failures,
                "slow": self.slow,
                "seconds": self.times._asdict(),
                "answers": [
                    {
                        "position": answer.position.number,
                        "ply": answer.position.board.ply,
                        "scores": answer.position.scores,
                        **answer.reply._asdict(),
                        "lost": answer.tally.lost,
                    }
                    for answer in self.answers
                ],
            }
        )

    def __repr__(self) -> str:
        return f"<AgentAccuracy {self.title}>"

    def __str__(self) -> str:
        parts = [
            self.title,
            tables.as_text(self._table()),
            self._details(),
            tables.notes_as_text(self._notes()),
        ]
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        table, notes = tables.as_html(self._table()), tables.notes_as_html(self._notes())
        return f"<p><b>{escape(self.title)}</b></p>{table}<pre>{escape(self._details())}</pre>{notes}"

    def _details(self) -> str:
        """The shares by ply, the worst moves as boards."""
        return "\n\n".join(filter(None, [ply_grid(self.by_ply), boards("worst moves", self.worst(SHOWN))]))

    @property
    def title(self) -> str:
        """Who answered what, in a line."""
        share = percent(self.tally.best_share)
        return f"{self.name}: {share} % best moves in {len(self.answers)} positions"

    def _table(self) -> list[list[str]]:
        """A row a phase, and all."""
        phases = {name: tally for name, tally in self.by_phase.items() if tally.moves}
        rows = {f"{name} of the game": tally for name, tally in phases.items()} | {"all": self.tally}
        return [["", *HEADINGS], *([name, *row(tally)] for name, tally in rows.items())]

    def _notes(self) -> list[tuple[str, str]]:
        """The lines below: a label of at most 14 characters and what there is to say."""
        times, limit = self.times, self.configuration["actTimeout"]
        notes = []
        if self.failures:
            notes.append(("no move", f"{counted(self.failures)}: each a loss at once{self._first_error()}"))
        if self.slow:
            notes.append(("slow", f"{self.slow} answers took longer than actTimeout, {limit:g} s"))
        if self.stop:
            notes.append(("stopped", self.stop))
        asked = "" if len(self.answers) == self.asked else f" of {self.asked}"
        return [
            *notes,
            (
                "ms a move",
                f"{milliseconds(times.mean)}, longest {milliseconds(times.longest)}{self._loading()}",
            ),
            ("asked with", f"{len(self.answers)}{asked} positions of {self.source}, seed {self.seed}"),
        ]

    def _loading(self) -> str:
        """That a file is loaded in the time of its first move, and here each is the first."""
        return "; each with loading the file" if is_file(self.name.split(":")[0]) else ""

    def _first_error(self) -> str:
        """What the first failure that said anything said."""
        for answer in self.answers:
            if answer.reply.ending and (lines := answer.reply.stderr.strip().splitlines()):
                return f" (position {answer.position.number}: {lines[-1]})"
        return ""


def examine(
    agent: str | Agent,
    positions: str | Path | Sequence[Position] = POSITIONS,
    *,
    count: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    configuration: Mapping[str, Any] | None = None,
    trusted: bool = False,
    on_answer: Callable[[Answer, int], None] | None = None,
) -> AgentAccuracy:
    """The accuracy of an agent's moves in positions, by default the kit's own.

    Answers follow from `seed` and the positions' numbers, whatever `jobs` is (see `play_match`).

    Args:
        count: ask only so many of the positions, spread evenly over the file.
        configuration: settings that differ from Kaggle's, such as `{"actTimeout": 1}`; the board is 6x7.
        trusted: run an agent given as a file in this process.
        on_answer: called with each answer, and how many there will be.

    Raises:
        InputError: for an agent or positions that cannot be used.
        AccuracyInterrupted: on Ctrl-C.
    """
    check_numbers(count=(1 if count is None else count, 1), jobs=(jobs, 1))
    settings = complete(configuration)
    source = "own making"
    if isinstance(positions, (str, Path)):
        path = Path(positions)
        source = "the kit" if path == POSITIONS else str(path)
        positions = read_positions(path)
    positions = spread(positions, count)
    answers: list[Answer] = []

    def result(stop: str = "") -> AgentAccuracy:
        name = agent_name(agent)
        return AgentAccuracy(name, seed, settings, source, len(positions), tuple(answers), stop)

    examiner = _Examiner(agent, settings, trusted)
    try:
        with generators_kept():
            check_agents([agent], jobs)
            isolation_told([agent], trusted, console.messages.print)
            questions = (
                (position, (position.board.to_flat(), seed_of(seed, position.number)))
                for position in positions
            )
            with closing(in_order(jobs, examiner, questions)) as replies:
                for position, reply in replies:
                    answers.append(Answer(position, reply))
                    if on_answer:
                        on_answer(answers[-1], len(positions))
                    last = [answer.reply.ending for answer in answers[-TIMEOUTS:]]
                    if last == [Ending.TIMEOUT] * TIMEOUTS:
                        return result(f"{TIMEOUTS} positions in a row without an answer in time")
    except KeyboardInterrupt:
        raise AccuracyInterrupted(result()) from None
    return result()


@dataclass(frozen=True)
class _Examiner:
    """Asks an agent for a move in a position, given by its cells, with a seed."""

    agent: str | Agent
    settings: Mapping[str, Any]
    trusted: bool

    def __call__(self, question: tuple[list[int], int]) -> Reply:
        cells, seed = question
        random.seed(seed)
        np.random.seed(seed % 2**32)
        agent = self.agent
        isolated = isinstance(agent, str) and needs_isolation(agent) and not self.trusted
        with open_agent(str(agent), seed) if isolated else nullcontext(load_agent(agent)) as opened:
            verdict, seconds, written = Seat(opened, dict(self.settings)).turn(cells, Board.from_flat(cells))
        column, ending = (None, verdict.ending) if isinstance(verdict, Forfeit) else (verdict, None)
        return Reply(column, ending, sum(seconds) if seconds else None, written)


def spread(positions: Sequence[Position], count: int | None) -> list[Position]:
    """So many of the positions, or all, evenly spread."""
    if count is None or count >= len(positions):
        return list(positions)
    return [positions[number * len(positions) // count] for number in range(count)]
