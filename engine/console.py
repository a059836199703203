"""What the commands tell people: how far a long calculation is, and what cannot be used."""

from __future__ import annotations

import sys
from typing import TextIO

from engine.clock import now

SCREEN_SECONDS, LOG_SECONDS = 0.5, 60.0  # between two reports


class UsageError(ValueError):
    """What a person gave that cannot be used; the message is one line."""


class Progress:
    """Reports on stderr: one line that is written anew on a screen, a line a minute in a log.

    Args:
        total: how many steps there are, if that is known.
        screen: where to write.
        done: steps that were done before, of which the speed says nothing.
    """

    def __init__(self, total: int | None = None, screen: TextIO | None = None, done: int = 0) -> None:
        self.screen = screen or sys.stderr
        self.total = total
        self.done = self.before = done
        self.start = now()
        self.live = self.screen.isatty()
        self.next = self.start + (1 if self.live else LOG_SECONDS)
        self.width = 0

    def step(self, count: int = 1) -> None:
        """So many more are done; 0 where one takes long."""
        self.done += count
        if (time := now()) < self.next:
            return
        self.next = time + (SCREEN_SECONDS if self.live else LOG_SECONDS)
        seconds = time - self.start
        speed = (self.done - self.before) / seconds
        line = f"{self.done:,} of {self.total:,}" if self.total else f"{self.done:,} positions"
        if not speed:
            line += f", {_duration(seconds)} so far"
        elif self.total:
            line += f", {_duration((self.total - self.done) / speed)} to go"
        else:
            line += f", {speed:,.1f} a second"
        self._write(line if self.live else f"{line}\n")

    def clear(self) -> None:
        """Leaves the line empty, before something else is written."""
        if self.live and self.width:
            self._write("")

    def _write(self, line: str) -> None:
        self.screen.write(f"\r{line:{self.width}}" + ("" if line else "\r") if self.live else line)
        self.screen.flush()
        self.width = len(line)


def _duration(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds < 120 else f"{seconds / 60:,.0f} min"
