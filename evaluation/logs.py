"""The logs of agents, as `kaggle competitions logs EPISODE AGENT` gives them, and texts copied from them.

A log has a list for every call of the agent: [[{"duration": 0.1, "stdout": "", "stderr": ""}], ...]. The
last bracket is missing where the agent's process died. `env.logs` holds the calls of both agents.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.tracebacks import last_raised

AGENT = re.compile(r"agent[-_ ]?([01])(?!\d)", re.IGNORECASE)
CALL = re.compile(r'(\[\s*){0,2}\{\s*"duration"')


@dataclass(frozen=True)
class Log:
    """The log of an agent in one game.

    Attributes:
        name: of its file.
        seat: 0 or 1, None if not known.
        seconds: how long each call took that has ended.
        stderr: what the last call wrote.
        whole: whether the log was closed in order.
        calls: whether it is a log of calls at all, not the text of a terminal.
    """

    name: str
    seat: int | None
    seconds: tuple[float, ...]
    stderr: str
    whole: bool = True
    calls: bool = True


def read_text(text: str, name: str) -> list[Log]:
    """The log whose end is missing, or the traceback, in a text that is no JSON; nothing without either."""
    start = text.lstrip()[:40]
    if start.strip() == "[" or CALL.match(start):
        log = _agent_log(list(_cut_off(text)), name, None, whole=False)
        if last_raised(log.stderr) or not last_raised(text):  # else the last call itself is cut off
            return [log]
    elif start.startswith("{"):  # games, one a line
        return []
    if not last_raised(text):
        return []
    return [Log(name, None, (), text, calls=False)]


def _cut_off(text: str) -> Iterator[dict[str, Any]]:
    """The calls in a log that ends before its last bracket."""
    decoder, position = json.JSONDecoder(), 0
    while (position := text.find("{", position)) >= 0:
        try:
            call, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            return
        yield call


def read_logs(value: Any, name: str) -> list[Log]:
    """The log of an agent, or of both agents (`env.logs`); nothing for what is no log."""
    if isinstance(value, dict) and "duration" in value:
        value = [value]
    if not isinstance(value, list):
        return []
    turns = [turn if isinstance(turn, list) else [turn] for turn in value]
    calls = [call for turn in turns for call in turn]
    if not all(isinstance(call, dict) and (not call or "duration" in call) for call in calls):
        return []
    if any(len(turn) > 1 for turn in turns):
        seats = [[turn[seat] for turn in turns if len(turn) > seat and turn[seat]] for seat in (0, 1)]
        return [_agent_log(seats[seat], f"{name}, agent {seat}", seat, whole=True) for seat in (0, 1)]
    return [_agent_log([call for call in calls if call], name, None, whole=True)]


def _agent_log(calls: Sequence[Mapping[str, Any]], name: str, seat: int | None, whole: bool) -> Log:
    """A log of calls; which agent's it is may be told by its file's name."""
    if seat is None and (found := AGENT.search(name)):
        seat = int(found[1])
    stderr = calls[-1].get("stderr") if calls else ""
    times = tuple(seconds(call.get("duration")) for call in calls)
    return Log(name, seat, times, stderr if isinstance(stderr, str) else "", whole)


def seconds(value: Any) -> float:
    """A time that somebody has written down; 0 for what is none."""
    return value if type(value) in (int, float) and -1e9 < value < 1e9 else 0.0
