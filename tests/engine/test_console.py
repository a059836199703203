"""What is told of a long calculation, on a screen and in a log."""

import io

from engine import console
from engine.console import Progress


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_after_a_second_and_leaves_nothing_behind(monkeypatch):
    clock = iter([0.0, 0.5, 1.5, 1.6, 3.0])
    monkeypatch.setattr(console, "now", lambda: next(clock))
    progress = Progress(8, Screen())
    shown = []
    for _ in range(4):
        progress.step()
        shown.append(progress.screen.getvalue())
    assert shown == ["", "\r2 of 8, 4 s to go", "\r2 of 8, 4 s to go", shown[3]]
    assert shown[3].endswith("\r4 of 8, 3 s to go")
    progress.clear()
    assert progress.screen.getvalue() == shown[3] + "\r" + " " * len("4 of 8, 3 s to go") + "\r"


def test_a_line_a_minute_in_a_log_and_steps_done_before(monkeypatch):
    clock = iter([0.0, 30.0, 61.0, 100.0])
    monkeypatch.setattr(console, "now", lambda: next(clock))
    progress = Progress(4000, io.StringIO(), done=1000)
    for _ in range(3):
        progress.step(100)
    progress.clear()
    assert progress.screen.getvalue() == "1,200 of 4,000, 14 min to go\n"


def test_a_log_of_a_stream_gets_a_line_a_minute(monkeypatch):
    clock = iter([0.0, 59.0, 100.0, 101.0])
    monkeypatch.setattr(console, "now", lambda: next(clock))
    progress = Progress(None, io.StringIO())
    for _ in range(3):
        progress.step(1000)
    progress.clear()
    assert progress.screen.getvalue() == "2,000 positions, 20.0 a second\n"


def test_a_first_step_that_takes_long(monkeypatch):
    clock = iter([0.0, 0.5, 300.0])
    monkeypatch.setattr(console, "now", lambda: next(clock))
    progress = Progress(1, Screen())
    progress.step(0)
    progress.step(0)
    assert progress.screen.getvalue() == "\r0 of 1, 5 min so far"
