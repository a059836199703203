"""What the child's observations mean: pure functions from its events to findings and figures."""

from __future__ import annotations

import math
import statistics

from evaluation.tracebacks import Raised, causes
from submission.report import Times
from submission.static import Reading
from submission.worker import Event

PRINT_LIMIT = 10_000
"""Characters of a move's output that Kaggle keeps."""

SEATS = ("first", "second")
ANSWERS = {
    "none": "returns-none",
    "numpy": "returns-numpy",
    "float": "returns-float",
    "exception": "returns-exception",
    "generator": "generator-or-coroutine",
    "wrong-type": "returns-wrong-type",
}

BY_EXCEPTION = {
    "dunder-file", "notebook-magic", "syntax-error", "exits", "out-of-memory", "module-not-found",
    "pickles-own-class", "inspect-getsource", "relative-open", "no-callable", "load-error",
    "raises-exception",
}  # fmt: skip
"""Findings that an exception is enough for. Other causes of it the check has looked for before."""


def cause(error: Event, reading: Reading, loading: bool) -> str:
    """The finding for an exception raised while loading, or in a move: the likeliest that the file allows."""
    raised = Raised(
        error["type"], error["message"], loading, own=bool(error["where"]), starting=error["starting"]
    )
    possible = BY_EXCEPTION | (reading.seen.keys() & {"import-inside-agent", "kept-stream"})
    if error["name"] in reading.guarded:
        possible |= {"main-guard"}
    return next(name for name in causes(raised) if name in possible)


def told(error: Event) -> str:
    """An exception in one line."""
    text = f"{error['type']}: {error['message']}".splitlines()[0]
    return f"{error['where']}: {text}" if error["where"] else text


def problem(game: Event, place: str, reading: Reading) -> tuple[str, str] | None:
    """The first thing that went wrong in a game: its finding, and where it was seen."""
    for move in game["moves"]:
        at = f"{move_name(move)} of {place}"
        if move["kind"] == "raised":
            return cause(move["error"], reading, loading=False), f"{told(move['error'])}, at {at}"
        if move["kind"] != "int":
            return ANSWERS[move["kind"]], f"{move['value']}, at {at}"
        if not move["legal"]:
            return "full-column" if move["full"] else "column-out-of-range", f"{move['value']}, at {at}"
    if "TIMEOUT" in game["statuses"]:
        move = game["moves"][-1]
        return "times-out", f"{move['seconds']:.2f} s, at {move_name(move)} of {place}"
    if game["error"]:
        return "raises-exception", f"{told(game['error'])}, in {place}"
    return None


def winner(game: Event) -> int | None:
    """The seat that won a game, 0 or 1; None for a draw."""
    return next((seat for seat, reward in enumerate(game["rewards"]) if reward == 1), None)


def times(game: Event, act_timeout: float, bank: float) -> Times | None:
    """The move times of a game of the submission against itself; None if no move has ended."""
    seconds = sorted(move["seconds"] for move in game["moves"] if move["seconds"] is not None)
    if not seconds:
        return None
    return Times(
        moves=len(seconds),
        first=max(move["seconds"] or 0.0 for move in game["moves"][:2]),
        mean=statistics.fmean(seconds),
        median=statistics.median(seconds),
        p99=seconds[math.ceil(0.99 * len(seconds)) - 1],
        longest=seconds[-1],
        overage=max(overage(game, seat, act_timeout) for seat in (0, 1)),
        bank=bank,
    )


def overage(game: Event, seat: int, act_timeout: float, skip: int = 0) -> float:
    """Seconds a seat took from its bank, its first `skip` moves left out."""
    seconds = [move["seconds"] or 0.0 for move in game["moves"] if move["seat"] == seat]
    return sum(max(0.0, spent - act_timeout) for spent in seconds[skip:])


def move_name(move: Event) -> str:
    """Which move it is, for a person."""
    return f"move {move['ply'] // 2 + 1} as {SEATS[move['seat']]} player"
