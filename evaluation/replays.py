"""Recorded games, wherever they come from: tournaments, Kaggle's episodes, environments of one's own.

What a file may hold, each also as JSON lines, in a list or as JSON text within JSON:

    a `GameRecord`                    {"configuration": ..., "moves": ..., "ending": ..., ...}
    a game of a tournament            the same with "id", "agents" and "seed"
    an episode, as Kaggle sends it    {"steps": ..., "info": {"EpisodeId": ..., "TeamNames": ...}, ...}
    `env.toJSON()`                    the same without names
    either of these in an object      {"environment": ..., "logs": env.logs}, {"result": ...}

Nothing in them is believed: the moves are played on our own board, and a game whose boards, statuses or
rewards do not follow from them is refused. Texts lose what a terminal would take for a command.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any, TextIO

from engine.board import Board, BoardError
from evaluation.archive import GAMES_FILE, RECORD, read_games
from evaluation.errors import InputError
from evaluation.logs import seconds
from evaluation.records import STDERR_LIMIT, Ending, GameRecord, outcome
from evaluation.referee import configuration, natural_ending

WRAPPERS = ("environment", "result", "replay", "episode")
"""Keys under which an object may hold the episode."""
MAX_LENGTH = 100_000_000
"""A document longer than this is not read; an episode has about a hundred thousand."""
MAX_CELLS = 10_000
"""Boards with more cells are not read: an object of a few bytes can claim any size."""
MAX_DEPTH = 8
"""How often an object or a text may hold another before the game itself comes."""
NAME_LENGTH = 80
NAMELESS = ("first player", "second player")
NO_RESULT: tuple[tuple[None, None], tuple[str, str]] = ((None, None), ("ERROR", "ERROR"))
"""Rewards and statuses of a game that is `ABORTED`."""

READ = "what is read: a tournament's folder, GameRecord lines, a Kaggle episode's JSON, env.toJSON()"

Complain = Callable[[str], None]


@dataclass(frozen=True)
class RecordedGame:
    """A game that was played somewhere.

    Attributes:
        name: the game's id in its tournament, the episode's number, or the file's name.
        players: the names of the first mover and of the other.
        record: the game. Replays without logs leave `seconds` and `stderr` empty, and count discs that
            were set up before the agents moved among their moves: nothing tells them apart.
            A game that was not played to its end is `ABORTED`: nothing tells a crash from a stop.
        overage: seconds that each call of an agent took from its bank, in order; empty if not known.
    """

    name: str
    players: tuple[str, str]
    record: GameRecord
    overage: tuple[float, ...] = ()


def read_recorded(source: Path, complain: Complain = lambda _: None) -> Iterator[RecordedGame]:
    """The games in a file or folder, one at a time; see the module for what may be in it.

    `complain` is told in one line of each game of several that cannot be read. Raises `InputError`
    where there is no game at all, or nothing that is known.
    """
    games = 0
    for game in _read(source, complain):
        games += 1
        yield game
    if not games:
        raise InputError(f"{source} holds no finished game; {READ}")


def _read(source: Path, complain: Complain) -> Iterator[RecordedGame]:
    if source.is_dir():
        yield from _read_folder(source, complain)
    elif source.name == GAMES_FILE:
        yield from _read_tournament(source.parent, complain)
    else:
        yield from _read_file(source, complain)


def _read_folder(folder: Path, complain: Complain) -> Iterator[RecordedGame]:
    """A tournament's games, or those of all replays in a folder."""
    if (folder / GAMES_FILE).exists():
        yield from _read_tournament(folder, complain)
        return
    for path in sorted(folder.glob("*.json")):
        try:
            yield from _read_file(path, complain)
        except InputError as error:
            complain(str(error))


def _read_tournament(folder: Path, complain: Complain) -> Iterator[RecordedGame]:
    for game in read_games(folder, complain):
        try:
            yield _recorded(game.record, str(game.id), game.agents)
        except InputError as error:
            complain(f"{folder / GAMES_FILE}: game {clean(str(game.id))}: {error}; it is left out")


def _read_file(path: Path, complain: Complain) -> Iterator[RecordedGame]:
    """The games of a file: one JSON document, or one a line."""
    with _opened(path) as file:
        first = next((line for line in iter(lambda: file.readline(MAX_LENGTH), "") if line.strip()), "")
        second = file.readline(MAX_LENGTH)
        if not (second.strip() and _is_json(first)):
            text = first + second + file.read(MAX_LENGTH)
            if len(text) > MAX_LENGTH:
                raise InputError(f"{path} is longer than {MAX_LENGTH:,} characters, as no replay is; {READ}")
            try:
                yield from games_in(text, path.stem)
            except InputError as error:
                raise InputError(f"{path}: {error}") from None
            return
        lines = chain((first, second), iter(lambda: file.readline(MAX_LENGTH), ""))
        for number, line in enumerate(filter(str.strip, lines), 1):
            try:
                yield from games_in(line, f"{path.stem}-{number}")
            except InputError as error:
                complain(f"{path}: game {number}: {error}; it is left out")


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="\n") as file:
            yield file
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None


def games_in(text: str, name: str) -> Iterator[RecordedGame]:
    """The games in a JSON text, called `name` where they have no names. Raises `InputError`."""
    if not text.strip():
        raise InputError(f"empty; {READ}")
    try:
        yield from _games(parse(text), name)
    except RecursionError:
        raise InputError("nested too deeply for a game") from None
    except InputError as error:
        raise InputError(clean(str(error), 300)) from None


def parse(text: str) -> Any:
    """The value of a JSON text. Raises `InputError`, or RecursionError where it is nested too deeply."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"not JSON ({error}); {READ}") from None


def _is_json(text: str) -> bool:
    try:
        parse(text)
    except (InputError, RecursionError):
        return False
    return True


def clean(text: str, length: int = NAME_LENGTH) -> str:
    """A text of strangers in one line that a terminal can be given: what is not printable is written out."""
    shown = "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text[:length]
    )
    return shown + "…" * (len(text) > length)


def _games(value: Any, name: str, logs: Any = None, depth: int = 0) -> Iterator[RecordedGame]:
    """The games in a JSON value, wherever they are in it."""
    if depth > MAX_DEPTH:
        raise InputError("nested too deeply for a game")
    if isinstance(value, str):
        yield from _games(parse(value), name, logs, depth + 1)
    elif isinstance(value, list) and value:
        several = len(value) > 1
        for number, entry in enumerate(value, 1):
            yield from _games(entry, f"{name}-{number}" if several else name, logs, depth + 1)
    elif not isinstance(value, dict):
        raise InputError(f"no game but {_kind(value)}; {READ}")
    elif "steps" in value:
        yield episode(value, name, logs)
    elif "moves" in value and "ending" in value:
        yield _of_record(value, name)
    else:
        inner = next((value[key] for key in WRAPPERS if value.get(key)), None)
        if inner is None:
            raise InputError(f"no game but {_kind(value)}; {READ}")
        yield from _games(inner, name, value.get("logs", logs), depth + 1)


def _kind(value: Any) -> str:
    """What a JSON value is, for a person."""
    if isinstance(value, dict):
        keys = ", ".join(clean(key, 20) for key in list(value)[:5])
        return f"an object with the keys {keys}" if keys else "an empty object"
    if isinstance(value, list):
        return "an empty list"
    return f"the value {clean(json.dumps(value), 40)}"


# Records of our own


def _of_record(value: Mapping[str, Any], name: str) -> RecordedGame:
    """A line that `GameRecord.to_json` or `archive.Game.to_json` wrote."""
    fields = {key: value[key] for key in RECORD if key in value}
    return _recorded(GameRecord.from_fields(fields), value.get("id", name), value.get("agents"))


def _recorded(record: GameRecord, name: Any, players: Any) -> RecordedGame:
    """A record with names, checked. Raises `InputError` for one that does not hold what it must."""
    record = _checked(record)
    overage = tuple(max(0.0, each - record.configuration["actTimeout"]) for each in record.seconds)
    return RecordedGame(clean(name) if isinstance(name, str) else "game", _names(players), record, overage)


def _checked(record: GameRecord) -> GameRecord:
    """The record, if its fields are of the right types and its end follows from its moves."""
    settings = _settings(record.configuration)
    columns = (*record.moves, *record.opening)
    if (
        any(type(column) is not int for column in columns)
        or record.opening != record.moves[: len(record.opening)]
    ):
        raise InputError("moves and opening must be columns, the opening those that come first")
    if _refused(record.refused) != record.refused:
        raise InputError("refused must be a number or null")
    board = _play(record.moves, settings)
    over = natural_ending(board, settings) if board.ply else None
    seat = board.turn - 1
    if record.ending.is_forfeit or record.ending is Ending.ABORTED:
        if over:
            raise InputError(f"the game ended by the rules ({over}), not by {record.ending}")
        culprit = None if record.ending is Ending.ABORTED else seat
    else:
        if over is not record.ending:
            raise InputError(f"the record says {record.ending}, the moves say {over or 'that it goes on'}")
        seat, culprit = 1 - seat, None
    rewards, statuses = NO_RESULT if record.ending is Ending.ABORTED else outcome(record.ending, seat)
    if (record.rewards, record.statuses) != (rewards, statuses):
        raise InputError(f"rewards and statuses are not those of the ending {record.ending}")
    if record.culprit != culprit:
        raise InputError(f"culprit must be {culprit}, the seat that was to move")
    calls = len(record.moves) - len(record.opening)
    calls += record.ending.is_forfeit and record.ending is not Ending.CRASH
    if any(seconds(each) != each for each in record.seconds) or len(record.seconds) not in (0, calls):
        raise InputError(f"seconds must be {calls} numbers, one for each call, or none")
    return replace(record, configuration=settings, stderr=_unbroken(str(record.stderr)))


def _settings(value: Any) -> dict[str, Any]:
    """The configuration of a game, with what may be left out. Raises `InputError`."""
    if not isinstance(value, dict):
        raise InputError("the configuration is no object")
    settings = configuration(**value)
    if settings["rows"] * settings["columns"] > MAX_CELLS:
        raise InputError(f"a board of {settings['rows']}x{settings['columns']} is too large to be read")
    return settings


def _play(moves: Sequence[int], settings: Mapping[str, Any]) -> Board:
    board = Board(settings["rows"], settings["columns"], settings["inarow"])
    for number, column in enumerate(moves, 1):
        try:
            board = board.play(column)
        except BoardError as error:
            raise InputError(f"step {number}: {error}") from None
    return board


def _names(players: Any) -> tuple[str, str]:
    """The names of two players; where there are none, what they are called in general."""
    names = players if isinstance(players, (list, tuple)) else ()
    first, second = [*(clean(name) if isinstance(name, str) else "" for name in names[:2]), "", ""][:2]
    return first or NAMELESS[0], second or NAMELESS[1]


def _unbroken(text: str) -> str:
    """The text without lone surrogates, which no encoding can write."""
    return text.encode("utf-8", "replace").decode()


# Kaggle's episodes


def episode(value: Mapping[str, Any], name: str, logs: Any = None) -> RecordedGame:
    """The game of an episode's JSON, or of `env.toJSON()`; `logs` are `env.logs`.

    Raises `InputError` for another competition's episode, and for one whose boards, statuses and rewards
    do not follow from its actions, naming the step (0 is the empty board).
    """
    game = value.get("name", "connectx")
    if game != "connectx":
        raise InputError(f"an episode of {clean(json.dumps(game))}, not of connectx")
    info = value.get("info")
    info = info if isinstance(info, dict) else {}
    settings = _settings(value.get("configuration"))
    steps = _Steps(value["steps"], settings)
    called = _calls(value.get("logs", logs), len(steps.states) - 1)
    record = GameRecord(
        configuration=settings,
        opening=tuple(steps.moves[: len(steps.states) - 1 - len(called)]) if called else (),
        moves=tuple(steps.moves),
        rewards=steps.rewards,
        statuses=steps.statuses,
        ending=steps.ending,
        culprit=steps.seat if steps.ending.is_forfeit else None,
        refused=steps.refused,
        seconds=tuple(seconds(log.get("duration")) for log in called),
        stderr=_unbroken("".join(str(log.get("stderr", "")) for log in called))[-STDERR_LIMIT:],
    )
    number = info.get("EpisodeId")
    return RecordedGame(
        clean(str(number)) if isinstance(number, (int, str)) and number else clean(name),
        _names(info.get("TeamNames")),
        record,
        tuple(steps.overage[len(record.opening) :]) if len(steps.overage) == len(steps.states) - 1 else (),
    )


def _calls(logs: Any, actions: int) -> list[Mapping[str, Any]]:
    """The logs of the agents' calls, one for each of the last actions; none if there are no logs.

    `env.logs` has a list for every step, empty where no agent was asked, and keeps those of earlier runs.
    """
    if not isinstance(logs, list):
        return []
    turns = logs[-actions:] if actions else []
    calls = [
        next((log for log in turn if isinstance(log, dict) and log), None) if isinstance(turn, list) else None
        for turn in turns
    ]
    while calls and calls[0] is None:
        calls.pop(0)
    return [call for call in calls if call is not None] if None not in calls else []


def _refused(value: Any) -> int | float | None:
    """What a refused action is recorded as: a number, or None for what was no number."""
    return value if type(value) is int or (type(value) is float and isfinite(value)) else None


class _Steps:
    """The steps of an episode, played again.

    Attributes:
        states: the states of both seats at each step, the empty board first.
        moves: the legal columns played.
        seat: who moved last, or tried to.
        refused: the number of an `INVALID` action, where there is one.
        overage: seconds that each action took from the bank.
    """

    def __init__(self, steps: Any, settings: Mapping[str, Any]) -> None:
        if not isinstance(steps, list) or not steps:
            raise InputError("the episode has no steps")
        self.settings = settings
        self.states = [_states(step, number) for number, step in enumerate(steps)]
        self.moves = list[int]()
        self.overage = list[float]()
        self.refused: int | float | None = None
        self.ending = Ending.ABORTED
        self.seat = 0
        self._board = _play((), settings)
        self._check_board(0)
        for number in range(1, len(self.states)):
            self._play_step(number)
        last = len(self.states) - 1
        if self.ending is not Ending.ABORTED:
            self.rewards, self.statuses = outcome(self.ending, self.seat)
            self._check_end(last)
        elif any(state.get("status") not in ("ACTIVE", "INACTIVE") for state in self.states[last]):
            raise InputError(f"step {last}: the episode has ended, but by the rules it goes on")
        else:
            self.rewards, self.statuses = NO_RESULT

    def _play_step(self, number: int) -> None:
        if self.ending is not Ending.ABORTED:
            raise InputError(f"step {number}: the game was over before ({self.ending})")
        self.seat = seat = self._board.turn - 1
        state = self.states[number][seat]
        action, status = state.get("action"), state.get("status")
        self._take_time(self.states[number - 1][seat], state)
        if status in ("INVALID", "ERROR", "TIMEOUT"):
            self.ending = Ending[status]
            self.refused = _refused(action)
        else:
            if type(action) is not int:
                raise InputError(f"step {number}: the action {clean(json.dumps(action), 40)} is no column")
            try:
                self._board = self._board.play(action)
            except BoardError as error:
                raise InputError(f"step {number}: {error}") from None
            self.moves.append(action)
            self.ending = natural_ending(self._board, self.settings) or Ending.ABORTED
        self._check_board(number)

    def _check_board(self, number: int) -> None:
        if self.states[number][0]["observation"].get("board") != self._board.to_flat():
            raise InputError(
                f"step {number}: the board does not follow from the actions"
                if number
                else "step 0: the episode does not start from the empty board"
            )

    def _check_end(self, last: int) -> None:
        states = self.states[last]
        if tuple(state.get("status") for state in states) != self.statuses:
            raise InputError(
                f"step {last}: the statuses are not those of a game that ended so ({self.ending})"
            )
        rewards = [state.get("reward") for state in states]
        if not self.ending.is_forfeit and _order(rewards) != _order(self.rewards):
            raise InputError(f"step {last}: the rewards are not those of the board")

    def _take_time(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        """Keeps what the bank of a seat lost between two of its states; in 2020 there was no bank."""
        banks = [state["observation"].get("remainingOverageTime") for state in (before, after)]
        if None not in banks:
            self.overage.append(max(0.0, seconds(banks[0]) - seconds(banks[1])))


def _states(step: Any, number: int) -> list[dict[str, Any]]:
    if not (isinstance(step, list) and len(step) == 2 and all(isinstance(state, dict) for state in step)):
        raise InputError(f"step {number}: not the states of two seats")
    if not all(isinstance(state.get("observation"), dict) for state in step):
        raise InputError(f"step {number}: a seat without an observation")
    return step


def _order(rewards: Sequence[Any]) -> int | None:
    """Which of two rewards is higher; they were 0, 0.5 and 1 in 2020, and -1, 0 and 1 later."""
    first, second = rewards
    if not (isinstance(first, (int, float)) and isinstance(second, (int, float))):
        return None
    return (first > second) - (first < second)
