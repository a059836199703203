"""How a tournament stands, shown while it is played: a table in a terminal, now and then a line elsewhere."""

from __future__ import annotations

import sys
from time import monotonic
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.table import Table

from evaluation.counts import interval
from evaluation.standings import TournamentResult, bounds, share

TABLE_SECONDS = 0.5
LINE_SECONDS = 10.0
MOST_MEETINGS = 12
"""Where more agents meet, the table has a row an agent."""


class Progress:
    """Shows standings on standard error. It keeps to that of its beginning: games change `sys.stderr`."""

    def __init__(self) -> None:
        self._console = Console(file=sys.stderr, highlight=False)
        self._live = Live(console=self._console, auto_refresh=False, transient=True, redirect_stdout=False)
        self._terminal = self._console.is_terminal
        self._begin = self._shown = monotonic()
        self._played = 0

    def __enter__(self) -> Self:
        if self._terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Takes the table away."""
        self._live.stop()

    def on_game(self, result: TournamentResult, now: bool) -> None:
        """Told of each game: the standings with it, and whether it has been played now."""
        if not now:
            return
        if not self._played:
            self._begin = monotonic()  # processes have started
        self._played += 1
        if monotonic() - self._shown >= (TABLE_SECONDS if self._terminal else LINE_SECONDS):
            if self._terminal:
                self._live.update(self._table(result), refresh=True)
            else:
                self._console.print(self._pace(result), soft_wrap=True)
            self._shown = monotonic()

    def _pace(self, result: TournamentResult) -> str:
        """How many games have been played, how fast, and how long the rest will take."""
        games, planned = result.games, result.planned
        rate = (self._played - 1) / max(monotonic() - self._begin, 1e-9)
        if not rate:
            return f"{games} of {planned} games"
        limit = "at most " if result.settings["sprt"] else ""
        left = (
            sum(result.settings["games"] - m.played for m in result.meetings.values() if not m.decided) / rate
        )
        return f"{games} of {planned} games, {rate:.3g} games/s, {limit}{_duration(left)} left"

    def _table(self, result: TournamentResult) -> Table:
        test = bool(result.settings["sprt"])
        table = Table(title=self._pace(result), title_justify="left", box=None)
        for heading in ("", "games", "score", "95 %", *(["LLR (-2.94 to 2.94)"] if test else [])):
            table.add_column(heading, justify="right" if heading else "left", no_wrap=not heading)
        for row in self._rows(result):
            table.add_row(*row)
        return table

    def _rows(self, result: TournamentResult) -> list[list[str]]:
        if len(result.meetings) > MOST_MEETINGS:
            return [
                [name, str(sum(total)), share(total), bounds(interval(result.outcomes(agent)))]
                for agent, name in enumerate(result.names)
                for total in [result.total(agent)]
            ]
        return [
            [
                f"{result.names[one]} against {result.names[two]}",
                str(meeting.played),
                share(meeting.total),
                bounds(interval(meeting.outcomes)),
                *([f"{meeting.test.llr:.2f}" + " ended" * meeting.decided] if meeting.test else []),
            ]
            for (one, two), meeting in result.meetings.items()
        ]


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return (
        f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
    )
