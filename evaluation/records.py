"""What is kept of a game: enough to tell who won and why, and to write Kaggle's replay of it again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Self

from engine.board import Board
from evaluation.errors import InputError

OVERAGE_SECONDS = 60
"""The bank of time each seat has for a whole game, on top of `actTimeout` for every move."""
STDERR_LIMIT = 10_000
"""How many characters of standard error a record keeps, from the end: a traceback is there."""


class Ending(StrEnum):
    """Why a game ended. From `INVALID` to `CHANNEL` it is a forfeit: one agent lost by what it did wrong.

    Those from `MEMORY` on only isolated agents can bring about (see `evaluation.isolation`).
    """

    LINE = "line"
    FULL = "full"  # the board is full: a draw
    STEPS = "steps"  # `episodeSteps` is reached: a draw
    INVALID = "invalid"  # a full column, a column that does not exist, or no whole number at all
    ERROR = "error"  # the agent raised an exception, or returned one
    TIMEOUT = "timeout"  # slower than `actTimeout` with the bank of time used up
    CRASH = "crash"  # what the agent did breaks Kaggle's whole run: it answered 3.0, or called sys.exit
    MEMORY = "memory"  # more memory than the limit
    EXIT = "exit"  # its process ended by itself: os._exit
    SIGNAL = "signal"  # a signal ended its process, as a segmentation fault does
    OUTPUT = "output"  # it wrote more than the limit
    PROCESSES = "processes"  # it had more processes at once than the limit
    CHANNEL = "channel"  # it wrote to, or closed, the channel on which its answers are sent
    ABORTED = "aborted"  # no result: `runTimeout` was over, or whatever process played it died

    @property
    def is_forfeit(self) -> bool:
        """Whether an agent lost by what it did wrong, whatever the board shows."""
        return self not in (Ending.LINE, Ending.FULL, Ending.STEPS, Ending.ABORTED)


def outcome(ending: Ending, seat: int) -> tuple[tuple[int | None, int | None], tuple[str, str]]:
    """Kaggle's rewards and statuses of a game that the action of `seat` brought to its `ending`."""
    reward: int | None = 1 if ending is Ending.LINE else 0
    other, status = (-1 if reward else 0), "DONE"
    if ending.is_forfeit:
        kaggles = (Ending.INVALID, Ending.ERROR, Ending.TIMEOUT)
        reward, status = None, ending.name if ending in kaggles else "ERROR"
    return ((reward, other), (status, "DONE")) if seat == 0 else ((other, reward), ("DONE", status))


@dataclass(frozen=True)
class GameRecord:
    """One game, whichever referee ran it.

    Attributes:
        configuration: the settings, as the agents saw them.
        opening: columns (0-based) set up before the agents moved.
        moves: all legal columns played, the opening included.
        rewards: Kaggle's: 1 a win, -1 a loss, 0 a draw; a forfeit gives the culprit None and the other 0.
        statuses: Kaggle's: DONE, INVALID, ERROR or TIMEOUT. Kaggle leaves a `CRASH` undecided; it and
            the endings of isolated agents are recorded as ERROR and DONE, with the rewards of a forfeit.
        ending: why the game ended.
        culprit: the seat (0 or 1) that forfeited, None where nobody did.
        refused: the column of an `INVALID` answer where Kaggle records it, otherwise None.
        seconds: how long each call of an agent took, rounded to 6 decimals as in Kaggle's log. A call
            that ended in a `CRASH` has no entry there and none here. Empty where nobody took the time.
        stderr: the last of what the agents wrote to standard error, tracebacks included.
    """

    configuration: dict[str, Any]
    opening: tuple[int, ...]
    moves: tuple[int, ...]
    rewards: tuple[int | None, int | None]
    statuses: tuple[str, str]
    ending: Ending
    culprit: int | None = None
    refused: int | float | None = None
    seconds: tuple[float, ...] = ()
    stderr: str = ""

    def points(self, seat: int) -> float:
        """1.0 for a win, 0.5 for a draw, 0.0 for a loss; a forfeit is the culprit's loss, the other's win."""
        if self.culprit is not None:
            return 0.0 if seat == self.culprit else 1.0
        return ((self.rewards[seat] or 0) + 1) / 2

    @property
    def board(self) -> Board:
        """The final position."""
        config = self.configuration
        return Board.from_moves(self.moves, config["rows"], config["columns"], config["inarow"])

    def _repr_svg_(self) -> str:
        return self.board._repr_svg_()

    @cached_property
    def steps(self) -> list[list[dict[str, Any]]]:
        """Kaggle's steps JSON: for the start and after every action the states of both seats.

        A game that ended in a `CRASH` has no last step: Kaggle breaks off before it is recorded.
        """
        rows, columns = self.configuration["rows"], self.configuration["columns"]
        cells = [0] * (rows * columns)
        banks: list[float] = [OVERAGE_SECONDS, OVERAGE_SECONDS]
        actions: list[int | float | None] = [*self.moves]
        if self.ending.is_forfeit and self.ending is not Ending.CRASH:
            actions.append(self.refused)
        steps = [_step(cells, 0, (0, 0), banks)]
        for ply, action in enumerate(actions):
            seat = ply % 2
            if ply < len(self.moves):
                cells[lowest_empty(cells, self.moves[ply], columns)] = seat + 1
            if self.seconds and ply >= len(self.opening):
                seconds = self.seconds[ply - len(self.opening)]
                banks[seat] -= max(0, seconds - self.configuration["actTimeout"])
            steps.append(_step(cells, ply + 1, (0, action) if seat else (action, 0), banks))
        if self.ending is not Ending.CRASH:
            for state, reward, status in zip(steps[-1], self.rewards, self.statuses, strict=True):
                state.update(reward=reward, status=status)
        return steps

    def to_json(self) -> str:
        """One line of JSON, without the steps, which follow from the rest. `from_json` undoes it."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The record that `to_json` wrote. Raises `InputError` for anything else."""
        try:
            fields = json.loads(text)
        except ValueError as error:
            raise InputError(f"not the record of a game ({error}): {text[:60]!r}") from None
        return cls.from_fields(fields)

    @classmethod
    def from_fields(cls, fields: Any) -> Self:
        """The record with these attributes, lists in place of tuples. Raises `InputError`."""
        try:
            tuples = ("opening", "moves", "rewards", "statuses", "seconds")
            return cls(
                **{**fields, "ending": Ending(fields["ending"])}
                | {name: tuple(fields[name]) for name in tuples}
            )
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(f"not the record of a game ({error}): {str(fields)[:60]!r}") from None


def lowest_empty(cells: list[int], column: int, columns: int) -> int:
    """The index of the lowest empty cell of a `column` with room, on Kaggle's flat board."""
    index = len(cells) - columns + column
    while cells[index]:
        index -= columns
    return index


def _step(
    cells: list[int], ply: int, actions: tuple[int | float | None, ...], banks: list[float]
) -> list[dict[str, Any]]:
    """The states of both seats after `ply` actions, in a game that goes on."""
    shared = {"step": ply, "board": cells[:], "mark": 1}
    observations: tuple[Mapping[str, Any], ...] = (shared, {"mark": 2})
    return [
        {
            "action": actions[seat],
            "reward": 0,
            "info": {},
            "observation": {"remainingOverageTime": banks[seat], **observations[seat]},
            "status": "INACTIVE" if (ply - seat) % 2 else "ACTIVE",
        }
        for seat in (0, 1)
    ]
