"""What a person may set, in an INI file that is as easily written by hand as by the program."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from configparser import (
    ConfigParser,
    DuplicateOptionError,
    DuplicateSectionError,
    MissingSectionHeaderError,
    ParsingError,
)
from configparser import Error as IniError
from dataclasses import dataclass
from math import inf
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple

from evaluation.errors import InputError
from evaluation.loading import known_agents, parse_spec
from play.folders import config_folder

BEGINS = ("random", "you", "agent")
LEVEL_DEPTHS = {"Easy": 1, "Medium": 4, "Expert": 6}

TEMPLATE = """\
# Settings of `python -m play`. A line left out has its default; delete the file for the defaults of all.

[BASIC]
# How many moves ahead the agent alpha_beta looks, 1 or more: 1 is Easy, 4 Medium, 6 Expert.
Depth = 4
# yes prints the board, values and search figures of every move to the terminal.
Debug = no

[GAME]
# Easy, Medium, Expert, Perfect, or an agent such as n_step:N_STEPS=5; empty for the depth above.
Opponent =
# Who moves first: random, you or agent.
Begins = random
# Seconds the agent may think about a move.
Seconds = 2

[BOARD]
Rows = 6
Columns = 7
InARow = 4
"""


class SettingsError(InputError):
    """A settings file that cannot be used; the message names the file and the line."""


@dataclass(frozen=True)
class Settings:
    """The settings; `dataclasses.replace` changes them.

    Attributes:
        depth: how many moves ahead the opponent looks if `opponent` is empty, at least 1.
        debug: whether every move is explained on the terminal.
        opponent: an agent spec, or empty for `alpha_beta` at `depth`.
        begins: who moves first: random, you or agent.
        seconds: what the agent is told it may take for a move.
        rows, columns, inarow: the board, each at least 1.
    """

    depth: int = 4
    debug: bool = False
    opponent: str = ""
    begins: str = "random"
    seconds: float = 2
    rows: int = 6
    columns: int = 7
    inarow: int = 4

    @property
    def spec(self) -> str:
        """The spec of the opponent."""
        return self.opponent or depth_spec(self.depth)


def depth_spec(depth: int) -> str:
    """The article's agent at a depth."""
    return f"alpha_beta:DEPTH={depth},PRESET=article"


def levels() -> dict[str, str]:
    """The spec of each level: Easy, Medium, Expert, and Perfect for the strongest agent there is."""
    strongest = "perfect" if "perfect" in known_agents() else "deepening"
    return {**{name: depth_spec(depth) for name, depth in LEVEL_DEPTHS.items()}, "Perfect": strongest}


def spec_of(opponent: str) -> str:
    """The spec of an opponent that may be given as a level, such as Expert."""
    return levels().get(opponent, opponent)


def level_name(spec: str) -> str:
    """What a person calls an agent: its level if it is one, otherwise its spec."""
    return next((name for name, of_level in levels().items() if of_level == spec), spec)


def settings_path() -> Path:
    """The settings file; it need not exist."""
    return config_folder() / "settings.ini"


def load(path: Path | None = None) -> Settings:
    """The settings of the file; the defaults where there is none.

    A file that cannot be used is reported on standard error and left as it is; the defaults are used.
    """
    try:
        return read(path)
    except SettingsError as error:
        print(f"warning: {error}; playing with the default settings", file=sys.stderr)
        return Settings()


def read(path: Path | None = None) -> Settings:
    """The settings of the file; the defaults where there is none. Raises `SettingsError`."""
    path = path or settings_path()
    return _parse(_text(path), path)


def save(settings: Settings, path: Path | None = None) -> None:
    """Writes the settings, into the lines the file has, so that comments stay.

    Raises `SettingsError`, and changes nothing, for a file that is broken or cannot be written.
    """
    path = path or settings_path()
    text = _text(path)
    _parse(text, path)
    text = text or TEMPLATE
    for option in OPTIONS:
        value = getattr(settings, option.field)
        if value != getattr(Settings(), option.field) or _line_of(text, option.section, option.name):
            text = _with_value(text, option, option.write(value))
    if _parse(text, path) != settings:
        raise SettingsError(f"{path}: {settings} cannot be written so that it is read the same")
    _replace_file(path, text)


class Option(NamedTuple):
    """One setting in the file and the field it stands for."""

    section: str
    name: str
    field: str
    read: Callable[[str], Any]  # raises ValueError
    expected: str
    write: Callable[[Any], str] = str


def _whole(text: str) -> int:
    if (number := int(text)) < 1:
        raise ValueError
    return number


def _seconds(text: str) -> float:
    if not 0 < (number := float(text)) < inf:
        raise ValueError
    return number


def _begins(text: str) -> str:
    return BEGINS[BEGINS.index(text.lower())]


def _opponent(text: str) -> str:
    if text:
        parse_spec(text)  # whether the agent exists is seen when it is to play
    return spec_of(text)


WHOLE = "a whole number of at least 1"
OPTIONS = (
    Option("BASIC", "Depth", "depth", _whole, WHOLE),
    Option(
        "BASIC",
        "Debug",
        "debug",
        lambda text: ConfigParser.BOOLEAN_STATES[text.lower()],
        "yes or no",
        lambda value: "yes" if value else "no",
    ),
    Option(
        "GAME",
        "Opponent",
        "opponent",
        _opponent,
        "Easy, Medium, Expert, Perfect, an agent such as n_step:N_STEPS=5, or empty",
    ),
    Option("GAME", "Begins", "begins", _begins, "random, you or agent"),
    Option("GAME", "Seconds", "seconds", _seconds, "a number above 0", "{:.12g}".format),
    Option("BOARD", "Rows", "rows", _whole, WHOLE),
    Option("BOARD", "Columns", "columns", _whole, WHOLE),
    Option("BOARD", "InARow", "inarow", _whole, WHOLE),
)


def _parse(text: str, path: Path) -> Settings:
    """The settings in `text`. Raises `SettingsError` with the first line that is wrong."""
    parser = ConfigParser(interpolation=None, default_section="", inline_comment_prefixes=("#", ";"))
    try:
        parser.read_string(text)
    except IniError as error:
        raise _broken(path, *_complaint(error)) from None
    values = {}
    for section in parser.sections():
        known = {option.name.lower(): option for option in OPTIONS if option.section == section}
        if not known:
            sections = ", ".join(dict.fromkeys(f"[{option.section}]" for option in OPTIONS))
            raise _broken(path, _line_of(text, section), f"there is no section [{section}], only {sections}")
        for name, value in parser.items(section):
            line = _line_of(text, section, name)
            if name not in known:
                names = ", ".join(option.name for option in known.values())
                raise _broken(path, line, f"[{section}] has no setting {name!r}, only {names}")
            option = known[name]
            try:
                values[option.field] = option.read(value)
            except (ValueError, KeyError):
                raise _broken(path, line, f"{option.name} must be {option.expected}, not {value!r}") from None
    return Settings(**values)


def _complaint(error: IniError) -> tuple[int, str]:
    """The line that is no INI, and what is wrong with it."""
    match error:
        case DuplicateSectionError():
            return error.lineno or 0, f"section [{error.section}] is there twice"
        case DuplicateOptionError():
            return error.lineno or 0, f"{error.option!r} is there twice in [{error.section}]"
        case MissingSectionHeaderError():
            return error.lineno, f"{error.line.strip()!r} stands before the first [SECTION]"
        case ParsingError():
            return error.errors[0][0], "write NAME = VALUE"
    raise error


def _broken(path: Path, line: int, complaint: str) -> SettingsError:
    return SettingsError(f"{path}, line {line}: {complaint}")


def _line_of(text: str, section: str, name: str | None = None) -> int:
    """The number, from 1, of the line of a section or of a setting in it; 0 where there is none."""
    current = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[(.+)\]", line):
            current = header[1]
            if current == section and name is None:
                return number
        elif current == section and name is not None and re.match(_setting(name), line, re.IGNORECASE):
            return number
    return 0


def _setting(name: str) -> str:
    """The pattern of the line of a setting: name and sign, value, comment."""
    return rf"(\s*{re.escape(name)}\s*[=:])\s*(.*?)(\s+[#;].*)?$"


def _with_value(text: str, option: Option, value: str) -> str:
    """`text` with the value of an option replaced, or a line for it added."""
    lines = text.splitlines()
    if number := _line_of(text, option.section, option.name):
        found = re.match(_setting(option.name), lines[number - 1], re.IGNORECASE)
        assert found
        lines[number - 1] = f"{found[1]} {value}".rstrip() + (found[3] or "")
    else:
        header = _line_of(text, option.section)
        if not header:
            lines += ["", f"[{option.section}]"]
            header = len(lines)
        lines.insert(header, f"{option.name} = {value}".rstrip())
    return "\n".join(lines) + "\n"


def _text(path: Path) -> str:
    """The file's text, with or without a byte order mark; empty where there is no file."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise SettingsError(f"cannot read the settings {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise _broken(path, line, "not UTF-8 text: save the file as UTF-8") from None


def _replace_file(path: Path, text: str) -> None:
    """Writes the whole file or nothing; a link stays a link."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path = path.resolve()
        with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
            file.write(text)
        os.replace(file.name, path)
    except OSError as error:
        raise SettingsError(f"cannot write the settings {path}: {error.strerror}") from None
