"""What the check found, as data, as JSON and as a page for a person."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

from rich import box
from rich.console import Console, Group, RenderableType
from rich.jupyter import JupyterMixin
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from evaluation.pitfalls import FAILURE, NOTE, WARNING, Severity
from submission.findings import Finding

STYLES = {FAILURE: ("✗", "red"), WARNING: ("!", "yellow"), NOTE: ("i", "cyan")}


@dataclass(frozen=True)
class Loading:
    """What loading the file took, and what Kaggle will call.

    Attributes:
        seconds: of one loading; it counts towards the first move.
        memory: the most bytes it took, None where the system does not tell.
        callable: name of what Kaggle calls.
        arguments: how many of obs and config it is passed.
    """

    seconds: float
    memory: int | None
    callable: str
    arguments: int


@dataclass(frozen=True)
class Game:
    """One game: what was played, how it ended, and the finding that it led to, if any."""

    label: str
    result: str
    problem: str | None = None


@dataclass(frozen=True)
class Times:
    """Seconds of the submission's moves, by Kaggle's clock.

    Attributes:
        first: the slowest first move of a game, loading included.
        overage: the most that was taken from the bank in one game.
        bank: the bank, for the whole of a game.
    """

    moves: int
    first: float
    mean: float
    median: float
    p99: float
    longest: float
    overage: float
    bank: float


@dataclass(frozen=True)
class Comparison:
    """How many positions were put to the file and to the package, and where their answers differ."""

    positions: int
    different: int


@dataclass
class Condition:
    """How the file fares where something is restricted, or on another Python.

    Attributes:
        label: what is restricted, or which Python plays.
        how: how that was made; empty if the process did not start.
        partial: restrictions that bind Python only, not compiled code and child processes.
        result: what came of it: what was played, or what went wrong.
        problem: the finding that it led to.
        loading: seconds.
        first: seconds of the slower first move, loading included; None where clocks run faster.
        longest: seconds of the slowest of the other moves, likewise.
        positions: random positions that were answered.
        said: the start of what it printed to standard error, where fallbacks are told.
    """

    label: str
    how: str = ""
    partial: list[str] = field(default_factory=list)
    result: str = ""
    problem: str | None = None
    loading: float | None = None
    first: float | None = None
    longest: float | None = None
    positions: int = 0
    said: str = ""


@dataclass
class Report(JupyterMixin):
    """What the check found. Parts that were not reached are None or empty.

    A terminal and Jupyter show it as the same table.

    Attributes:
        path: the file.
        size: in bytes.
        lines: of main.py.
        spec: what the file says it was bundled from.
        memory: the most bytes it took while loading and in the validation episode.
        repetition: whether its moves were the same again, with seeded random numbers and a counting clock.
        conditions: how it fares under restrictions and on other Pythons.
        bank: seconds of overage time left in the worst of all games on Kaggle's own environment.
        findings: the gravest first.
        notes: what was done otherwise than on Kaggle, or left out, and why.
    """

    path: str
    size: int
    lines: int = 0
    spec: str | None = None
    loading: Loading | None = None
    validation: Game | None = None
    times: Times | None = None
    memory: int | None = None
    games: list[Game] = field(default_factory=list)
    boards: list[Game] = field(default_factory=list)
    comparison: Comparison | None = None
    repetition: str | None = None
    conditions: list[Condition] = field(default_factory=list)
    bank: float | None = None
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether the file may be submitted: no finding is a failure."""
        return not self.count(FAILURE)

    def count(self, severity: Severity) -> int:
        """How many findings are of this severity."""
        return sum(found.severity is severity for found in self.findings)

    def to_json(self) -> str:
        """The report as a JSON object."""
        return json.dumps({"ok": self.ok, **asdict(self)}, indent=2)

    def verdict(self) -> Text:
        """One line: whether the file may be submitted."""
        counts = [
            f"{count} {severity}{'s' * (count > 1)}"
            for severity in (FAILURE, WARNING)
            if (count := self.count(severity))
        ]
        listed = f" ({', '.join(counts)})" if counts else ""
        if self.ok:
            return Text(f"✓ {self.path} is ready for Kaggle{listed}", style="bold green")
        return Text(f"✗ {self.path} is not ready for Kaggle{listed}", style="bold red")

    def __rich__(self) -> RenderableType:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("Part", no_wrap=True)
        table.add_column("What was seen", overflow="fold")
        table.add_column("Verdict", no_wrap=True)
        for part, title, value in self._rows():
            table.add_row(title, value or Text("not reached", style="dim"), self._mark(part, bool(value)))
        notes = [Text(f"Note: {note}", style="dim") for note in self.notes]
        conditions = [self._conditions()] if self.conditions else []
        return Group(table, *conditions, *map(_shown, self.findings), *notes, Text(), self.verdict())

    def _conditions(self) -> Table:
        """How it fares under each condition, with how that was made."""
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("Condition", no_wrap=True)
        for title in ("Loads", "First", "Slowest"):
            table.add_column(title, justify="right", no_wrap=True)
        table.add_column("What came of it", overflow="fold")
        explained = set[str]()
        for condition in self.conditions:
            style = STYLES[WARNING][1] if condition.problem else ""
            seen = Text(
                f"{condition.problem}: {condition.result}" if condition.problem else condition.result, style
            )
            if condition.said:
                seen.append(f"\nsaid: {condition.said}")
            if new := [way for way in condition.how.split(", ") if way not in explained]:
                seen.append(f"\nby {', '.join(new)}", "dim")
                explained.update(new)
            times = (condition.loading, condition.first, condition.longest)
            shown = ["" if seconds is None else _seconds(seconds) for seconds in times]
            table.add_row(condition.label, *shown, seen)
        return table

    def _rows(self) -> Iterator[tuple[str, str, str]]:
        """The part of each row, its title, and what was seen; empty text if it was not reached."""
        spec = f", bundled from {self.spec}" if self.spec else ""
        yield "file", "File", f"{self.size:,} bytes, {self.lines:,} lines{spec}"
        load, times = self.loading, self.times
        yield "loading", "Loading", (load and f"{_seconds(load.seconds)}{_memory(load.memory)}") or ""
        yield "callable", "Kaggle calls", (load and f"{load.callable}({_arguments(load.arguments)})") or ""
        yield "validation", "Validation episode", (self.validation and self.validation.result) or ""
        if times:
            shown = [
                f"{name} {_seconds(seconds)}"
                for name, seconds in (
                    ("first", times.first),
                    ("median", times.median),
                    ("p99", times.p99),
                    ("max", times.longest),
                )
            ]
            yield "times", "Move times", f"{', '.join(shown)} ({times.moves} moves)"
            used = f"{_seconds(times.overage)} of {times.bank:g} s in a game"
            left = "" if self.bank is None else f"; {self.bank:.2f} s left in the worst of all games"
            yield "overage", "Overage time", used + left
        if self.memory is not None:
            yield "memory", "Memory", _memory(self.memory).strip(", ")
        if self.repetition:
            yield "repetition", "Repeated positions", self.repetition
        for game in self.games:
            yield game.label, game.label, game.result
        if self.boards:
            failed = [f"{game.label}: {game.result}" for game in self.boards if game.problem]
            listed = ", ".join(game.label for game in self.boards)
            yield "boards", "Other boards", "; ".join(failed) or f"played on {listed} (rows x columns/inarow)"
        if self.comparison:
            compared = self.comparison
            same = f"{compared.positions - compared.different} of {compared.positions}"
            yield "package", "Same as package", f"{same} moves"

    def _mark(self, part: str, reached: bool) -> Text:
        """The verdict of a row: its findings, or that all is well."""
        found = [finding for finding in self.findings if finding.part == part]
        if not found:
            return Text("ok", style="green") if reached else Text("-", style="dim")
        return Text("\n").join(Text(finding.id, style=STYLES[finding.severity][1]) for finding in found)

    def show(self, console: Console) -> None:
        """Print the report."""
        console.print(self)


def _shown(found: Finding) -> RenderableType:
    sign, colour = STYLES[found.severity]
    head = Text.assemble((f"{sign} {found.id}", f"bold {colour}"), f"  {found.what}")
    body = Text.assemble(("seen    ", "dim"), found.seen, "\n", ("remedy  ", "dim"), found.remedy)
    return Group(head, Padding(body, (0, 0, 1, 2)))


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def _memory(size: int | None) -> str:
    return "" if size is None else f", {size / 2**20:.1f} MB"


def _arguments(count: int) -> str:
    return ", ".join(("obs", "config")[:count])
