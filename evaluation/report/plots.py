"""Axes: where values are along them, in percent of their length, and which values get a label."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

TICKS = 7
"""At most so many labels fit on an axis, on a phone too."""


@dataclass(frozen=True)
class Tick:
    """A label and where it is."""

    at: float
    label: str


@dataclass(frozen=True)
class Bar:
    """A value with its error bar: places in percent, and whether an end lies beyond the axis."""

    at: float
    low: float
    high: float
    open_low: bool
    open_high: bool


@dataclass(frozen=True)
class EloAxis:
    """An axis of Elo points, both ends round numbers."""

    start: int
    end: int
    step: int

    @classmethod
    def of(cls, values: Iterable[float]) -> EloAxis:
        """The shortest axis that holds the finite ones of `values`."""
        finite = [value for value in values if isfinite(value)] or [0.0]
        low, high = min(finite), max(finite)
        step = next(s for s in _round_steps() if ceil(high / s) - floor(low / s) <= TICKS - 1)
        start, end = floor(low / step) * step, ceil(high / step) * step
        return cls(start, max(end, start + step), step)

    def at(self, elo: float) -> float:
        """Where so many points are; an end of the axis for what lies beyond it."""
        return round(100 * (min(max(elo, self.start), self.end) - self.start) / (self.end - self.start), 2)

    def bar(self, elo: float, low: float, high: float) -> Bar:
        """The place of a rating with its error bar."""
        return Bar(self.at(elo), self.at(low), self.at(high), low < self.start, high > self.end)

    @property
    def ticks(self) -> list[Tick]:
        """The labels, both ends among them."""
        values = range(self.start, self.end + 1, self.step)
        return [Tick(self.at(value), f"{value:+d}" if value else "0") for value in values]


def _round_steps() -> Iterable[int]:
    """50, 100, 200, 500, ..."""
    size = 10
    while True:
        yield from (5 * size, 10 * size, 20 * size)
        size *= 10


@dataclass(frozen=True)
class TimeAxis:
    """A logarithmic axis of seconds from one power of ten to another."""

    start: int
    end: int

    @classmethod
    def of(cls, values: Iterable[float]) -> TimeAxis:
        """The shortest axis that holds the positive ones of `values`."""
        logs = [log10(value) for value in values if value > 0] or [0.0]
        start = floor(min(logs))
        return cls(start, max(ceil(max(logs)), start + 1))

    def at(self, seconds: float) -> float:
        """Where so many seconds are."""
        power = log10(seconds) if seconds > 0 else self.start
        return round(100 * (power - self.start) / (self.end - self.start), 2)

    @property
    def ticks(self) -> list[Tick]:
        """A label a power of ten, or every second one where there are many."""
        powers = range(self.start, self.end + 1, 1 + (self.end - self.start >= TICKS))
        return [Tick(self.at(10.0**power), duration(10.0**power)) for power in powers]


def duration(seconds: float) -> str:
    """A time in words of two digits: 35 µs, 1.2 ms, 2 s."""
    units = ((1, "s"), (1e3, "ms"), (1e6, "µs"))
    factor, unit = next((each for each in units if seconds * each[0] >= 0.9995), units[-1])
    return f"{float(f'{seconds * factor:.2g}'):g} {unit}"
