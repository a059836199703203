"""Why an episode failed: the pitfalls behind what Kaggle shows of it, the likeliest first.

The evidence is a replay, the log of an agent, both, or a traceback that somebody has copied. Kaggle shows
little: no replay tells what an agent has answered in place of a column, or what it has raised; the log tells
the latter. Where one sign has several causes, all are named.

On Kaggle an agent plays in a process of its own that is asked over HTTP (`UrlAgent` in
kaggle_environments/agent.py, 1.33.2). What cannot be sent as JSON, and every answer of a process that has
ended, arrives as None, and None is played as column 0: a numpy number or a call of exit() shows there as
column 0 again and again, INVALID once that is full, while in a notebook it is INVALID at once or ends the
run. The log holds a list for every call that has ended, and lacks its last bracket where the process died.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.text import Text

from evaluation.errors import InputError
from evaluation.logs import Log, read_logs, read_text
from evaluation.pitfalls import PITFALLS
from evaluation.records import OVERAGE_SECONDS, Ending
from evaluation.replays import (
    MAX_LENGTH,
    NAMELESS,
    READ,
    Complain,
    RecordedGame,
    clean,
    games_in,
    parse,
    read_recorded,
)
from evaluation.tracebacks import Raised, causes, last_raised

STANDARD_ACT_TIMEOUT = 2.0
SLOW_LOAD = 1.0
"""Seconds of a first move from which on its loading is worth a look."""
MUCH_OVERAGE = OVERAGE_SECONDS / 10
SHOWN = 200
"""Characters shown of a line of evidence."""
CONFIRM = "python -m submission check main.py"


@dataclass(frozen=True)
class Candidate:
    """A pitfall that may be behind a failure; `why` says what speaks for it, if more than the evidence."""

    id: str
    what: str
    remedy: str
    why: str = ""


@dataclass(frozen=True)
class Explanation:
    """What can be told of a game, or of a log alone.

    Attributes:
        name: of the game or the file.
        failed: whether something went wrong.
        happened: what, in a sentence.
        evidence: lines from the log or the replay that show it.
        candidates: the pitfalls that may be behind it, the likeliest first.
        confirm: what to do to be sure.
    """

    name: str
    failed: bool
    happened: str
    evidence: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    confirm: str = ""

    def __rich__(self) -> Text:
        mark, style = ("✗", "bold red") if self.failed else ("✓", "bold green")
        text = Text.assemble((f"{mark} {self.name}", style), f"\n  {self.happened}")
        for line in self.evidence:
            text.append(f"\n    {line}", "dim")
        if self.candidates:
            text.append("\n  Likely pitfalls, the likeliest first:" if self.failed else "\n  Worth a look:")
        for number, each in enumerate(self.candidates, 1):
            text.append(f"\n  {number}. ").append(each.id, "bold").append(f"  {each.what}")
            if each.why:
                text.append(f"\n     {each.why}")
            text.append(f"\n     → {each.remedy}")
        if self.confirm:
            text.append(f"\n  To be sure: {self.confirm}")
        return text


def explanations(paths: Iterable[Path], complain: Complain = lambda _: None) -> list[Explanation]:
    """What went wrong in the games of these files, with what their logs tell; "-" is standard input.

    Raises `InputError` for a file that is neither replay nor log nor holds a traceback.
    """
    games = list[RecordedGame]()
    logs = list[Log]()
    for path in paths:
        found = _read(path, complain)
        games += [each for each in found if isinstance(each, RecordedGame)]
        logs += [each for each in found if isinstance(each, Log)]
    if not games:
        return _of_logs(logs)
    if logs and len(games) > 1:
        raise InputError(f"{len(games)} games and a log: give one game, or leave out {logs[0].name}")
    return [_of_game(game, logs) for game in games]


def to_json(found: Iterable[Explanation]) -> str:
    """The explanations as a JSON list of objects with their attributes."""
    return json.dumps([asdict(each) for each in found], indent=2)


# Reading


def _read(path: Path, complain: Complain) -> Sequence[RecordedGame | Log]:
    """The games or the logs in a file."""
    if path.is_dir() or path.suffix == ".jsonl":
        return list(read_recorded(path, complain))
    name = "standard input" if str(path) == "-" else path.name
    text = _text(path)
    try:
        value = parse(text)
    except (InputError, RecursionError):
        return read_text(text, name) or _read_games(path, text, name, complain)
    return read_logs(value, name) or _read_games(path, text, name, complain)


def _text(path: Path) -> str:
    if str(path) == "-":
        return sys.stdin.buffer.read(MAX_LENGTH).decode("utf-8", "replace")
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            return file.read(MAX_LENGTH)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None


def _read_games(path: Path, text: str, name: str, complain: Complain) -> list[RecordedGame]:
    """The games of a file that holds no log."""
    try:
        return list(games_in(text, name) if str(path) == "-" else read_recorded(path, complain))
    except InputError as error:
        known = ", the log of an agent, a traceback" if str(error).endswith(READ) else ""
        raise InputError(f"{error}{known}") from None


# Reasoning


@dataclass(frozen=True)
class _Case:
    """What is known of the call of an agent that a game ended with.

    Attributes:
        asked: how often the agent of `seat` has been asked, this time included.
        columns: what it played before.
        overage: seconds that its calls took from the bank.
        log: its log, or what the game's record holds of it.
        raised: the exception in it.
        returned: whether this call has ended, None if not known.
    """

    game: RecordedGame
    seat: int
    asked: int
    columns: tuple[int, ...]
    overage: tuple[float, ...]
    log: Log | None
    raised: Raised | None
    returned: bool | None


def _of_game(game: RecordedGame, logs: Sequence[Log]) -> Explanation:
    """What happened in a game."""
    record = game.record
    if not (record.ending.is_forfeit or record.ending is Ending.ABORTED):
        return _healthy(game)
    case = _case(game, logs)
    text, evidence, ids = TELLERS.get(record.ending, _isolated)(case)
    order = ("first", "second")[case.seat]
    when = f"Step {len(record.moves) + 1}, call {case.asked}"
    happened = f"{when} of {_agent(game, case.seat)}, who moved {order}: {text}."
    if case.log is None and logs:
        evidence.append(f"{logs[0].name} is of the other agent.")
    confirm = CONFIRM
    if case.log is None and record.ending not in ISOLATED:
        episode = game.name if game.name.isdigit() else "EPISODE"
        confirm += f"; kaggle competitions logs {episode} {case.seat}, then explain the replay with the log"
    return Explanation(game.name, True, happened, tuple(evidence), _candidates(ids), confirm)


def _agent(game: RecordedGame, seat: int) -> str:
    """An agent by its number, as Kaggle counts, and by its name if it has one."""
    name = game.players[seat]
    return f"agent {seat}" if name == NAMELESS[seat] else f"agent {seat} ({name})"


def _case(game: RecordedGame, logs: Sequence[Log]) -> _Case:
    record = game.record
    seat, start = len(record.moves) % 2, len(record.opening)
    asked = sum(ply % 2 == seat for ply in range(start, len(record.moves) + 1))
    log = next((log for log in logs if log.seat in (seat, None)), None)
    if log is None and (record.seconds or record.stderr):
        seconds = tuple(each for ply, each in enumerate(record.seconds, start) if ply % 2 == seat)
        log = Log(game.name, seat, seconds, record.stderr)
    returned = None
    if log and (log.own or len(log.seconds) >= asked):
        returned = len(log.seconds) >= asked
    raised = last_raised(log.stderr) if log and returned is not False else None
    overage = tuple(each for ply, each in enumerate(game.overage, start) if ply % 2 == seat)
    return _Case(
        game, seat, asked, record.moves[start:][(seat - start) % 2 :: 2], overage, log, raised, returned
    )


def _candidates(ids: Iterable[Hint]) -> tuple[Candidate, ...]:
    """The candidates of these ids, each once; an id may come with what speaks for it."""
    found = dict[str, str]()
    for each in ids:
        id, why = (each, "") if isinstance(each, str) else each
        found.setdefault(id, why)
    return tuple(Candidate(id, PITFALLS[id].what, PITFALLS[id].remedy, why) for id, why in found.items())


Hint = str | tuple[str, str]
"""The id of a pitfall, with what speaks for it or without."""
Told = tuple[str, list[str], Sequence[Hint]]
"""What an agent did, the lines that show it, and the ids of the pitfalls that may be behind it."""


def _shown(raised: Raised) -> list[str]:
    """An exception in a line or two."""
    return [clean(line, SHOWN) for line in (str(raised), raised.place) if line]


def _error(case: _Case) -> Told:
    text = "ERROR, it raised an exception"
    if case.raised:
        loading = " while its file was loaded" if case.raised.loading else ""
        return text + loading, _shown(case.raised), causes(case.raised)
    if case.log:
        return (
            "ERROR",
            ["The log holds no traceback: it returned an exception, or what it raised was cut off."],
            ["returns-exception", "raises-exception"],
        )
    usual = ["import-inside-agent", "kept-stream", "raises-exception", "returns-exception"]
    if case.asked == 1:
        usual = [
            "dunder-file", "module-not-found", "relative-open", "agent-not-last", "main-guard",
            "wrong-argument-count", "load-error", "raises-exception", "syntax-error",
        ]  # fmt: skip
    return text, ["A replay does not tell which; the agent's log does."], usual


def _invalid(case: _Case) -> Told:
    record = case.game.record
    refused, columns = record.refused, record.configuration["columns"]
    if refused is None:
        first = [
            ("class-chosen", "Its object is taken for the move."),
            ("agent-not-last", "Another function is called, which answers something else."),
        ]
        return (
            "INVALID, it answered something that is no column",
            ["The replay shows null: the answer was no whole number from 0 on. What it was is not kept."],
            [
                "returns-numpy",
                "returns-float",
                "returns-wrong-type",
                ("column-out-of-range", "If it answered a negative number."),
                *(first if case.asked == 1 else ()),
            ],
        )
    if not 0 <= refused < columns:
        text = f"INVALID, it answered {refused}, and columns are 0 to {columns - 1}"
        return text, [], ["column-out-of-range", *(["returns-float"] if isinstance(refused, float) else [])]
    text = f"INVALID, it played column {refused}, which was full"
    if refused == 0:
        return text, *_nothing_arrived(case)
    constant = f"It played column {refused} at every move." if {*case.columns} == {refused} else ""
    helper = "A function bound after `agent` is called, which does not look at the board."
    return (
        text,
        [constant] if constant else [],
        ["full-column", ("agent-not-last", helper), ("appended-file", helper)],
    )


NO_JSON = "On Kaggle an answer that JSON cannot hold arrives as None, and is played as column 0."
NO_PROCESS = "On Kaggle the calls of a process that has ended arrive as None, and are played as column 0."


def _nothing_arrived(case: _Case) -> tuple[list[str], Sequence[Hint]]:
    """The evidence and the causes where column 0 was played when it was full: it also stands for None."""
    gone: list[Hint] = [(name, NO_PROCESS) for name in ("exits", "process-dies", "out-of-memory")]
    unsent: list[Hint] = [
        (name, NO_JSON) for name in ("returns-numpy", "generator-or-coroutine", "returns-wrong-type")
    ]
    if case.log and case.returned is False:
        calls = len(case.log.seconds)
        if not case.log.whole:
            return [f"The log breaks off after {calls} of {case.asked} calls."], [*gone[1:], gone[0]]
        return [f"The log holds {calls} of {case.asked} calls: the next one never ended."], gone
    if any(case.columns):
        return [], ["returns-none", "full-column", *unsent, *([] if case.returned else gone)]
    chosen = [(name, NO_JSON) for name in ("class-chosen", "agent-not-last")]
    ids = ["returns-none", *unsent, *chosen, "full-column", *([] if case.returned else gone)]
    return ["It played column 0 at every move."], ids


def _timeout(case: _Case) -> Told:
    act_timeout = case.game.record.configuration["actTimeout"]
    seconds = case.log.seconds[case.asked - 1] if case.log and case.returned else None
    evidence, ids = _too_slow(case.asked == 1, seconds, case.overage, case.returned, act_timeout)
    if case.raised:
        evidence += _shown(case.raised)
        ids = [*ids, *causes(case.raised)]
    return "TIMEOUT, actTimeout and the overage time were used up", evidence, ids


def _too_slow(
    first: bool,
    seconds: float | None,
    overage: Sequence[float],
    returned: bool | None,
    act_timeout: float,
) -> tuple[list[str], list[str]]:
    """The evidence and the causes of a call that took too long."""
    evidence = []
    if seconds is not None:
        evidence.append(f"The call took {seconds:.2f} s; actTimeout is {act_timeout:g} s.")
    if returned is False:
        evidence.append("The log does not hold this call: it never ended.")
    used = [each for each in overage[:-1] if each > 0]
    if used:
        evidence.append(f"{len(used)} calls before it took {sum(used):.1f} s of the overage time.")
    endless = [] if returned else ["never-returns"]
    if first:
        ids = ["slow-load", *endless, "times-out", "slow-first-move", "obsolete-timeout"]
    elif used:
        ids = ["times-out", "obsolete-timeout", "slow-on-half", *endless]
    else:
        ids = [*endless, "times-out", "obsolete-timeout", "slow-on-half"]
    return evidence, ["never-returns", *ids] if returned is False else ids


ANSWERS_THAT_BREAK: Sequence[Hint] = (
    ("returns-float", "3.0 breaks the run, 3.5 does not."),
    "generator-or-coroutine",
    ("returns-numpy", "numpy.float64(3.0) breaks the run in a notebook."),
)


def _aborted(case: _Case) -> Told:
    """A game that broke off: nobody is known to be guilty, but this agent was to move."""
    text = "the game broke off when it was to move"
    if case.raised:
        return text, _shown(case.raised), causes(case.raised)
    ends = ["exits", "process-dies", "out-of-memory", "never-returns"]
    if case.returned:
        return text, ["Its log holds this call: it has answered."], ANSWERS_THAT_BREAK
    if case.returned is False:
        return text, ["Its log does not hold this call: it never ended."], ends
    return (
        text,
        ["Nothing is recorded of this move: neither an answer nor a status."],
        [*ANSWERS_THAT_BREAK, *ends],
    )


ISOLATED = {
    Ending.CRASH: "it did what breaks Kaggle's run",
    Ending.MEMORY: "it took more memory than its limit",
    Ending.EXIT: "it ended its process",
    Ending.SIGNAL: "it was ended by a signal",
    Ending.OUTPUT: "it wrote more than its limit",
    Ending.PROCESSES: "it started more processes than its limit",
    Ending.CHANNEL: "it wrote to the channel of its answers, or closed it",
}
"""Endings that only this kit records."""
ISOLATED_IDS = {
    Ending.CRASH: ["returns-float", "generator-or-coroutine", "exits"],
    Ending.MEMORY: ["out-of-memory"],
    Ending.EXIT: ["process-dies", "exits"],
    Ending.SIGNAL: ["process-dies"],
    Ending.OUTPUT: ["prints-cut"],
    Ending.PROCESSES: ["starts-threads"],
}


def _isolated(case: _Case) -> Told:
    ending = case.game.record.ending
    shown = _shown(case.raised) if case.raised else []
    found = causes(case.raised) if case.raised and ending is Ending.CRASH else []
    return ISOLATED[ending], shown, found or ISOLATED_IDS.get(ending, [])


TELLERS = {
    Ending.ERROR: _error,
    Ending.INVALID: _invalid,
    Ending.TIMEOUT: _timeout,
    Ending.ABORTED: _aborted,
}


def _healthy(game: RecordedGame) -> Explanation:
    """A game that was played to its end."""
    record = game.record
    moves = f"after {len(record.moves)} moves"
    if record.ending is Ending.LINE:
        winner = record.rewards.index(1)
        result = f"{_agent(game, winner)} won {moves}"
    else:
        result = f"a draw {moves}" + (", as many as there may be" if record.ending is Ending.STEPS else "")
    evidence, ids = [], list[str]()
    for seat in (0, 1):
        overage = [each for ply, each in enumerate(game.overage, len(record.opening)) if ply % 2 == seat]
        if sum(overage) > 0:
            first = f", {overage[0]:.1f} s of it at its first move" if overage[0] > 0 else ""
            evidence.append(f"Agent {seat} used {sum(overage):.1f} s of its overage time{first}.")
            ids += ["slow-load", "slow-first-move"] if overage[0] > 0 else []
            ids += ["overage-used"] if sum(overage) > MUCH_OVERAGE else []
    evidence.append("What was played badly is a matter for: python -m evaluation accuracy FILE")
    return Explanation(game.name, False, f"Nothing failed here: {result}.", tuple(evidence), _candidates(ids))


def _of_logs(logs: Sequence[Log]) -> list[Explanation]:
    """What logs tell without the replay; where one shows a failure, the others are of no interest."""
    asked = [log for log in logs if log.seconds or log.stderr] or logs[:1]
    found = [_of_log(log) for log in asked]
    return [each for each in found if each.failed] or found


def _of_log(log: Log) -> Explanation:
    """What a log or a traceback tells without the replay."""
    number = len(log.seconds)
    raised = last_raised(log.stderr)
    if raised and number and not raised.reported:
        raised = None  # one that the agent has caught and told of
    overage = [max(0.0, seconds - STANDARD_ACT_TIMEOUT) for seconds in log.seconds]
    if raised:
        when = "while the file was loaded" if raised.loading else "in a move"
        call = f", at call {number}" if number else ""
        return _failed(log, f"An exception was raised {when}{call}.", _shown(raised), causes(raised))
    if not log.whole:
        ids = ["process-dies", "out-of-memory", "exits"]
        return _failed(log, f"The log breaks off after {number} calls.", [], ids)
    if not number:
        ends = ["exits", "never-returns", "process-dies"]
        return _failed(log, "The log is empty: no call has ended.", [], [*ends, *ANSWERS_THAT_BREAK])
    if sum(overage) > OVERAGE_SECONDS:
        evidence, ids = _too_slow(number == 1, log.seconds[-1], overage, True, STANDARD_ACT_TIMEOUT)
        return _failed(log, "The overage time was used up: a TIMEOUT.", evidence, ids)
    return _quiet(log, overage)


def _failed(log: Log, happened: str, evidence: Sequence[str], ids: Sequence[Hint]) -> Explanation:
    return Explanation(log.name, True, happened, tuple(evidence), _candidates(ids), CONFIRM)


def _quiet(log: Log, overage: Sequence[float]) -> Explanation:
    """A log without an exception and without a lack of time: what it does not hold are the answers."""
    evidence = [f"{len(log.seconds)} calls have ended, the longest after {max(log.seconds):.2f} s."]
    if sum(overage) > 0:
        evidence.append(f"They used {sum(overage):.1f} s of the overage time.")
    evidence.append("A log does not hold the answers. If the episode failed all the same, one was refused.")
    slow = {
        "slow-load": log.seconds[0] > SLOW_LOAD,
        "slow-first-move": overage[0] > 0,
        "overage-used": sum(overage) > MUCH_OVERAGE,
    }
    refused = ["returns-numpy", "returns-none", "returns-float", "returns-wrong-type", "full-column"]
    ids = [*(name for name, seen in slow.items() if seen), *refused, "column-out-of-range", "class-chosen"]
    confirm = f"kaggle competitions replay EPISODE, then explain the replay with the log; {CONFIRM}"
    happened = "Nothing failed that a log would show."
    return Explanation(log.name, False, happened, tuple(evidence), _candidates(ids), confirm)
