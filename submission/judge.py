"""What the child's observations mean: pure functions from its events to findings and figures."""

from __future__ import annotations

import math
import os
import statistics

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


def cause(error: Event, reading: Reading, loading: bool) -> str:
    """The finding for an exception raised while loading, or in a move: the first name that fits."""
    kind, message, name = error["type"], error["message"], error["name"]
    path = error["filename"] or os.sep
    undefined = name if kind == "NameError" else None
    no_module = kind in ("ImportError", "ModuleNotFoundError") or (
        kind == "KeyError" and "__name__" in message
    )
    candidates = {
        "dunder-file": undefined == "__file__",
        "main-guard": undefined in reading.guarded,
        "notebook-magic": undefined == "get_ipython",
        "syntax-error": loading and kind in ("SyntaxError", "IndentationError", "TabError"),
        "exits": kind in ("SystemExit", "KeyboardInterrupt", "GeneratorExit"),
        "out-of-memory": kind == "MemoryError",
        "import-inside-agent": no_module and not loading and "import-inside-agent" in reading.seen,
        "module-not-found": no_module,
        "pickles-own-class": kind == "PicklingError" or "Can't get attribute" in message,
        "inspect-getsource": "is a built-in class" in message or "could not get source code" in message,
        "kept-stream": "closed file" in message and "kept-stream" in reading.seen,
        "relative-open": kind == "FileNotFoundError" and not (error["starting"] or os.path.isabs(path)),
        "no-callable": loading and kind == "IndexError" and not error["where"],
        "load-error": loading,
        "raises-exception": True,
    }
    return next(finding for finding, fits in candidates.items() if fits)


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
