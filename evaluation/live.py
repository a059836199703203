"""How a tournament stands, shown while it is played: a table in a terminal, now and then a line elsewhere."""

from __future__ import annotations

import sys
from time import monotonic
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from evaluation.counts import interval
from evaluation.standings import TournamentResult, bounds, share

TABLE_SECONDS = 0.5
LINE_SECONDS = 10.0
MOST_MEETINGS = 12
"""Where more agents meet, the table has a row an agent."""


class Progress:
    """Shows standings on standard error. It keeps to that of its beginning: games change `sys.stderr`.

    In a terminal a thread writes the first line anew with the time, however long a game takes.
    """

    def __init__(self) -> None:
        self._console = Console(file=sys.stderr, highlight=False)
        self._terminal = self._console.is_terminal
        self._result: TournamentResult | None = None
        self._table: Table | None = None
        self._begin = self._last = self._shown = monotonic()
        self._played = 0
        self._wanted: int | None = None
        self._live = Live(
            console=self._console,
            refresh_per_second=1 / TABLE_SECONDS,
            transient=True,
            redirect_stdout=False,
            get_renderable=self._screen,
        )

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

    def on_opening(self, number: int | None) -> None:
        """Told which opening is being looked for, from 0; None when it is found."""
        self._wanted = number
        self._log()

    def on_game(self, result: TournamentResult, now: bool) -> None:
        """Told of each game: the standings with it, and whether it has been played now."""
        self._result = result
        if now:
            self._last = monotonic()
            if not self._played:
                self._begin = self._last  # processes have started
            self._played += 1
        if self._terminal:
            if monotonic() - self._shown >= TABLE_SECONDS or not now:
                self._table = self._standings(result)
                self._shown = monotonic()
            else:
                self._table = None  # the thread makes it, should no game end before
        else:
            self._log()

    def _log(self) -> None:
        if not self._terminal and self._result is not None and monotonic() - self._shown >= LINE_SECONDS:
            self._console.print(self._pace(self._result), soft_wrap=True)
            self._shown = monotonic()

    def _screen(self) -> RenderableType:
        """What a terminal shows now."""
        if self._result is None:
            return Text(f"starting, {_duration(monotonic() - self._begin)}")
        if self._table is None:
            self._table = self._standings(self._result)
            self._shown = monotonic()
        return Group(Text(self._pace(self._result)), self._table)

    def _pace(self, result: TournamentResult) -> str:
        """How many games have been played, how fast, and how long the rest will take."""
        parts = [f"{result.games} of {result.planned} games"]
        rate = (self._played - 1) / max(self._last - self._begin, 1e-9)
        if rate > 0:
            limit = "at most " if result.settings["sprt"] else ""
            left = result.left / rate - (monotonic() - self._last)
            parts += [f"{rate:.3g} games/s", f"{limit}{_duration(max(0, left))} left"]
        if self._wanted is not None:
            parts.append(f"solving opening {self._wanted + 1}")
        elif monotonic() - self._last >= LINE_SECONDS:
            parts.append(f"none has ended for {_duration(monotonic() - self._last)}")
        return ", ".join(parts)

    def _standings(self, result: TournamentResult) -> Table:
        test = bool(result.settings["sprt"])
        table = Table(box=None, pad_edge=False)
        for heading in ("", "games", "score", "95 %", *(["LLR"] if test else [])):
            table.add_column(
                heading, justify="right" if heading else "left", no_wrap=bool(heading), overflow="fold"
            )
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
