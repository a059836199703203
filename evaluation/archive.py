"""The folder of a tournament, written and read. What is in it: see `evaluation.tournament`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple, Self

from evaluation.errors import InputError
from evaluation.records import GameRecord

SETTINGS_FILE = "tournament.json"
GAMES_FILE = "games.jsonl"
FREE = ("anchor",)
"""Settings that may change from run to run: no game depends on them. `games` may grow if there is no test."""

RECORD = [field.name for field in fields(GameRecord)]


class GameId(NamedTuple):
    """Which game of a tournament: two agents by their index, `one` < `two`, and a number from 0.

    `one` moves first in games with even numbers; 2k and 2k + 1 are a pair, played from opening k.
    """

    one: int
    two: int
    number: int

    def __str__(self) -> str:
        return "-".join(map(str, self))

    @classmethod
    def parse(cls, text: str) -> Self:
        """The id that was written as `text`. Raises `ValueError`."""
        one, two, number = map(int, text.split("-"))
        return cls(one, two, number)

    @property
    def seats(self) -> tuple[int, int]:
        """The indices of the agents: the first mover's, the other's."""
        return (self.two, self.one) if self.number % 2 else (self.one, self.two)


@dataclass(frozen=True)
class Game:
    """One finished game of a tournament: a line of `games.jsonl`.

    Attributes:
        id: which one.
        agents: the names of the first mover and of the other.
        seed: of the global random generators when it began.
        record: the game.
        imbalance: of its opening, as `evaluation.openings.Opening`.
    """

    id: GameId
    agents: tuple[str, str]
    seed: int
    record: GameRecord
    imbalance: int | None = None

    def to_json(self) -> str:
        """One line. `from_json` undoes it."""
        head = {
            "id": str(self.id),
            "agents": self.agents,
            "seed": self.seed,
            "imbalance": self.imbalance,
        }
        return json.dumps(head | {name: getattr(self.record, name) for name in RECORD})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The game that `to_json` wrote. Raises `InputError` for anything else."""
        try:
            line = json.loads(text)
            head = GameId.parse(line.pop("id")), tuple(line.pop("agents")), int(line.pop("seed"))
            imbalance = line.pop("imbalance", None)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(f"not the record of a game ({error}): {text[:60]!r}") from None
        return cls(*head, GameRecord.from_fields(line), imbalance)


def read_settings(folder: Path) -> dict[str, Any]:
    """What `tournament.json` in `folder` says. Raises `InputError`."""
    path = folder / SETTINGS_FILE
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
        settings["agents"]
    except OSError as error:
        raise InputError(f"{folder} holds no tournament: cannot read {path}: {error.strerror}") from None
    except (ValueError, TypeError, KeyError):
        raise InputError(f"{path} does not hold the settings of a tournament") from None
    return dict(settings)


def read_games(folder: Path, complain: Callable[[str], None] = lambda _: None) -> Iterator[Game]:
    """The finished games in the order they ended, one at a time.

    `complain` is told of each line that cannot be read, in one line; the last may be cut off.
    """
    path = folder / GAMES_FILE
    with suppress(FileNotFoundError), path.open(encoding="utf-8", errors="replace", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            if not line.endswith("\n"):
                complain(f"{path}: line {number} was cut off; that game counts as not played")
                return
            try:
                yield Game.from_json(line)
            except InputError:
                complain(f"{path}: line {number} cannot be read; that game counts as not played")


class Archive:
    """A folder that games are added to, by one process at a time.

    Every game is written at once and whole, so that a process that is killed loses none that has ended.
    Raises `InputError` for a folder that cannot be used, of another tournament or in use by a process.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = (folder / GAMES_FILE).open("ab", buffering=0)
        except OSError as error:
            raise InputError(f"cannot write to {folder}: {error.strerror}") from None
        try:
            _lock(self._file.fileno(), folder)
            if (folder / SETTINGS_FILE).exists():
                _check_settings(folder, read_settings(folder), settings)
            elif self._file.tell():
                raise InputError(f"{folder} holds games but no {SETTINGS_FILE}: choose another --out")
            _write_whole(folder / SETTINGS_FILE, json.dumps(settings) + "\n")
        except BaseException:
            self._file.close()
            raise

    def games(self, complain: Callable[[str], None]) -> Iterator[Game]:
        """The games that are there, as `read_games`; then the rest of a line that was cut off is removed."""
        yield from read_games(self.folder, complain)
        self._file.truncate(_end_of_lines(self.folder / GAMES_FILE))

    def add(self, game: Game) -> None:
        """Writes a game."""
        line = memoryview(game.to_json().encode() + b"\n")
        while line:
            line = line[self._file.write(line) :]

    def close(self) -> None:
        """Lets others use the folder."""
        self._file.close()


def _lock(descriptor: int, folder: Path) -> None:
    """Keeps other processes out until the file is closed or this process ends, however it does."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise InputError(f"another process is playing in {folder}: wait, or choose another --out") from None


def _check_settings(folder: Path, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Raises `InputError` naming the first setting in which two tournaments differ."""
    new = json.loads(json.dumps(new))
    if old["agents"] == new["agents"] and old.get("versions") != new.get("versions"):
        agents = zip(new["agents"], old.get("versions") or (), new["versions"], strict=False)
        changed = ", ".join(name for name, was, now in agents if was != now)
        raise InputError(f"{folder} was played with another version of {changed}: choose another --out")
    free = {*FREE, *(["games"] if new["games"] > old["games"] and not new["sprt"] else [])}
    for name in [*new, *old]:
        if name not in free and old.get(name) != new.get(name):
            was, now = (json.dumps(settings.get(name)) for settings in (old, new))
            difference = f"{name} {was}, not {now}" if len(was + now) < 200 else f"other {name}"
            more = "ask for as many or more, or " if name == "games" and not new["sprt"] else ""
            raise InputError(f"{folder} holds a tournament with {difference}: {more}choose another --out")


def _write_whole(path: Path, text: str) -> None:
    """Writes a file so that it is there whole or not at all."""
    draft = path.with_suffix(".new")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)


def _end_of_lines(path: Path) -> int:
    """Where the last whole line ends, in bytes."""
    with path.open("rb") as file:
        position = file.seek(0, os.SEEK_END)
        while position:
            start = max(0, position - 65536)
            file.seek(start)
            found = file.read(position - start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            position = start
    return 0
