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
        own: whether the agent's process wrote it, as on Kaggle: then it holds every call that has ended.
            That of an environment lacks the call that breaks off the run.
    """

    name: str
    seat: int | None
    seconds: tuple[float, ...]
    stderr: str
    whole: bool = True
    own: bool = False


def read_text(text: str, name: str) -> list[Log]:
    """The log whose end is missing, or the traceback, in a text that is no JSON; nothing without either."""
    start = text.lstrip()[:40]
    if start.strip() == "[" or CALL.match(start):
        log = _agent_log(list(_cut_off(text)), name, whole=False, own=True)
        if last_raised(log.stderr) or not last_raised(text):  # else the last call itself is cut off
            return [log]
    elif start.startswith("{"):  # games, one a line
        return []
    if not last_raised(text):
        return []
    return [Log(name, None, (), text)]


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
    if all(len(turn) == 1 for turn in turns):
        return [_agent_log(calls, name, own=True)]
    seats = [[turn[seat] for turn in turns if len(turn) > seat and turn[seat]] for seat in (0, 1)]
    return [_agent_log(seats[seat], f"{name}, agent {seat}") for seat in (0, 1)]


def _agent_log(
    calls: Sequence[Mapping[str, Any]], name: str, *, whole: bool = True, own: bool = False
) -> Log:
    """A log of calls; the name tells which agent's it is, if anything does."""
    numbers = AGENT.findall(name)
    stderr = calls[-1].get("stderr") if calls else ""
    return Log(
        name,
        int(numbers[-1]) if numbers else None,
        tuple(seconds(call.get("duration")) for call in calls),
        stderr if isinstance(stderr, str) else "",
        whole,
        own,
    )


def seconds(value: Any) -> float:
    """A time that somebody has written down; 0 for what is none."""
    return value if type(value) in (int, float) and -1e9 < value < 1e9 else 0.0
