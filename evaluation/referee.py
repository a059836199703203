"""The fast referee: a game in this process, with the record Kaggle's own environment would give.

What Kaggle does is read from kaggle_environments 1.33.2 (core.py, agent.py, schemas.json and
envs/connectx) and held to it by tests/evaluation/test_differential.py, which plays the same games there.
The rules themselves are those of `engine.board`.
"""

from __future__ import annotations

import sys
import traceback
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import deepcopy
from operator import index
from time import perf_counter
from typing import Any, NamedTuple

from engine.board import Board
from evaluation.calling import MAX_LOG_LENGTH, Agent, Struct, arguments_taken, call, deadline_errors, fresh
from evaluation.errors import InputError
from evaluation.records import OVERAGE_SECONDS, STDERR_LIMIT, Ending, GameRecord, lowest_empty, outcome

__all__ = [
    "Agent",
    "AgentLostError",
    "Forfeit",
    "RemoteAgent",
    "Seat",
    "complete",
    "configuration",
    "fresh",
    "natural_ending",
    "play_game",
    "run_timeout",
    "start_position",
]

SETTINGS = {
    "episodeSteps": (1000, 1),
    "actTimeout": (2, 0),
    "runTimeout": (1200, 0),
    "columns": (7, 1),
    "rows": (6, 1),
    "inarow": (4, 1),
    "agentTimeout": (60, 0),
    "timeout": (2, 0),
}
"""Kaggle's settings in Kaggle's order: the default and the least value of each."""
FRACTIONS_ALLOWED = ("actTimeout", "runTimeout", "agentTimeout")


def configuration(**overrides: Any) -> dict[str, Any]:
    """All settings of a game: `overrides`, then Kaggle's defaults for the rest, in Kaggle's order.

    Settings Kaggle does not know are passed on to the agents; None stands for the default. Raises
    `InputError` for the values Kaggle rejects: too small, not a number, True, or a fraction where a
    whole number is needed (also 7.0 columns, which Kaggle lets in and then fails on).
    """
    settings = dict(overrides)
    for name, (default, least) in SETTINGS.items():
        value = settings.get(name)
        if value is None:
            settings[name] = default
        elif type(value) is not int or value < least:
            _check_setting(name, value, least)
    return settings


def _check_setting(name: str, value: Any, least: int) -> None:
    kind, allowed = ("number", (int, float)) if name in FRACTIONS_ALLOWED else ("whole number", (int,))
    if not isinstance(value, allowed) or isinstance(value, bool) or value < least:
        raise InputError(f"{name}={value!r} cannot be played: it must be a {kind} of at least {least}")


def start_position(settings: Mapping[str, Any], opening: Sequence[int]) -> Board:
    """The position the agents start from: the empty board, or that after the columns of `opening`.

    Raises `BoardError` for a move that cannot be played, `InputError` where nothing is left to play.
    """
    board = Board.from_moves(opening, settings["rows"], settings["columns"], settings["inarow"])
    if opening and natural_ending(board, settings):
        raise InputError(f"opening {list(opening)} ends the game before the agents have moved: shorten it")
    return board


def natural_ending(board: Board, settings: Mapping[str, Any]) -> Ending | None:
    """Why the game is over by the rules, None while it is not. A win on the last step counts."""
    if board.winner:
        return Ending.LINE
    if board.is_draw:
        return Ending.FULL
    return Ending.STEPS if board.ply >= settings["episodeSteps"] - 1 else None


def run_timeout(settings: Mapping[str, Any], ply: int) -> InputError:
    """The error of a game that outlasts `runTimeout`: Kaggle breaks it off and nobody has won."""
    seconds = settings["runTimeout"]
    return InputError(f"runTimeout={seconds} was over after {ply} moves: raise it, or lower actTimeout")


class LateError(Exception):
    """What a late agent answers: this module's DeadlineExceeded."""


class AgentLostError(BaseException):
    """What ended the agent's process or made it useless, raised by an isolated agent.

    Attributes:
        ending: of the game.
        seconds: how long the call took; nothing for a `CRASH`.
        text: what is known about it, and what the agent wrote.
    """

    def __init__(self, ending: Ending, seconds: tuple[float, ...], text: str) -> None:
        super().__init__(ending.value)
        self.ending = ending
        self.seconds = seconds
        self.text = text


class RemoteAgent(ABC):
    """An agent that plays elsewhere and whose time is taken there."""

    @abstractmethod
    def ask(self, obs: Any, config: Any) -> tuple[Any, float, str]:
        """What `evaluation.calling.call` tells. Raises `AgentLostError`."""

    def __call__(self, obs: Any, config: Any) -> Any:
        """For Kaggle's own environment, which takes the time itself. Raises what the agent raised."""
        answer, _, written = self.ask(obs, config)
        sys.stderr.write(written)
        if isinstance(answer, Exception):
            raise answer
        return answer


class Forfeit(NamedTuple):
    """What an agent did wrong, and the number it answered where Kaggle records that."""

    ending: Ending
    refused: int | float | None = None


class Seat:
    """One agent in one game, asked for its moves as Kaggle asks.

    Attributes:
        bank: seconds that are left for late moves.
    """

    def __init__(self, agent: Agent, settings: dict[str, Any]) -> None:
        self.agent = agent
        self.settings = settings
        self.bank: float = OVERAGE_SECONDS
        self.arguments = arguments_taken(agent)

    def turn(self, cells: list[int], board: Board) -> tuple[int | Forfeit, list[float], str]:
        """The agent's move or forfeit, how long it took (nothing for a crash), what it wrote to stderr."""
        try:
            answer, duration, written = self._ask(cells, board)
            return _judge(answer, cells, board.geometry.columns), [duration], written
        except KeyboardInterrupt:
            raise
        except AgentLostError as lost:
            return Forfeit(lost.ending), [*lost.seconds], lost.text
        except BaseException:
            return Forfeit(Ending.CRASH), [], traceback.format_exc()

    def _ask(self, cells: list[int], board: Board) -> tuple[Any, float, str]:
        """The agent's answer, how long it took (seconds, 6 decimals) and what it wrote to stderr."""
        arguments = (self._observation(cells, board), fresh(self.settings))[: self.arguments]
        if isinstance(self.agent, RemoteAgent):
            answer, duration, written = self.agent.ask(*arguments)
        else:
            answer, duration, written = call(self.agent, arguments)
        # Kaggle judges by the exact time and takes the rounded one off the bank.
        if duration - self.settings["actTimeout"] > self.bank:
            answer = LateError()
        duration = round(duration, 6)
        self.bank -= max(0, duration - self.settings["actTimeout"])
        return answer, duration, written[: self.settings.get("maxLogLength", MAX_LOG_LENGTH)]

    def _observation(self, cells: list[int], board: Board) -> Struct:
        if board.turn == 1:
            return Struct(remainingOverageTime=self.bank, step=board.ply, board=cells[:], mark=1)
        return Struct(remainingOverageTime=self.bank, mark=2, step=board.ply, board=cells[:])


def _judge(answer: Any, cells: list[int], columns: int) -> int | Forfeit:
    """The legal column an answer stands for, or the forfeit it is.

    Lets through whatever breaks off Kaggle's run: there, too, the answer is copied, 3.0 passes for a
    whole number and then indexes the board, and a refused number is written out.
    """
    if isinstance(answer, BaseException):
        return Forfeit(
            Ending.TIMEOUT if isinstance(answer, (LateError, *deadline_errors())) else Ending.ERROR
        )
    answer = deepcopy(answer)
    if answer is None:
        return 0 if not cells[0] else Forfeit(Ending.INVALID, 0)
    whole = isinstance(answer, int) or (isinstance(answer, float) and answer.is_integer())
    if not whole or isinstance(answer, bool) or answer < 0:
        return Forfeit(Ending.INVALID)
    if answer >= columns or cells[answer]:
        str(answer)  # fails beyond 4300 digits, as Kaggle's message about it does
        return Forfeit(Ending.INVALID, float(answer) if isinstance(answer, float) else index(answer))
    return index(answer)


def play_game(
    agents: Sequence[Agent], configuration: Mapping[str, Any] | None = None, opening: Sequence[int] = ()
) -> GameRecord:
    """One game of `agents[0]`, who moves first, against `agents[1]`.

    `configuration` holds the settings that differ from Kaggle's; `opening` are 0-based columns set up
    before the agents move. Whatever an agent does, the game ends with a record: also what breaks
    Kaggle's own run (answering 3.0 or a generator, calling sys.exit) is a forfeit, a `CRASH`. Only
    KeyboardInterrupt stops the program. As on Kaggle, nothing interrupts an agent that never answers,
    unless it is isolated (see `evaluation.isolation`).

    Raises `InputError` for settings, `BoardError` or `InputError` for an opening that cannot be used,
    and `InputError` for a game that takes longer than `runTimeout`.
    """
    settings, opening = complete(configuration), tuple(map(index, opening))
    board = start_position(settings, opening)
    seats = [Seat(agent, settings) for agent in agents]
    cells, columns = board.to_flat(), settings["columns"]
    moves, seconds, stderr = list(opening), list[float](), ""
    ending: Ending | None = None
    refused = None
    started = perf_counter()
    while ending is None:
        if perf_counter() - started >= settings["runTimeout"]:
            raise run_timeout(settings, board.ply)
        seat = board.turn - 1
        verdict, times, written = seats[seat].turn(cells, board)
        seconds += times
        if written:
            stderr = (stderr + written)[-STDERR_LIMIT:]
        if isinstance(verdict, Forfeit):
            ending, refused = verdict
        else:
            cells[lowest_empty(cells, verdict, columns)] = board.turn
            moves.append(verdict)
            board = board.play(verdict)
            ending = natural_ending(board, settings)
    rewards, statuses = outcome(ending, seat)
    return GameRecord(
        configuration=settings,
        opening=opening,
        moves=tuple(moves),
        rewards=rewards,
        statuses=statuses,
        ending=ending,
        culprit=seat if ending.is_forfeit else None,
        refused=refused,
        seconds=tuple(seconds),
        stderr=stderr,
    )


def complete(overrides: Mapping[str, Any] | None) -> dict[str, Any]:
    """`configuration` under a name that the argument of `play_game` does not hide."""
    return configuration(**(overrides or {}))
