"""The live table of a tournament, in a pseudo-terminal as a person sees it, and what a log gets."""

import os
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from evaluation import live, play_tournament
from evaluation.archive import read_games

pty = pytest.importorskip("pty", reason="pseudo-terminals are POSIX's")

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
POOL = ["random_legal", "one_step", "kaggle:random"]
# As `python -m evaluation`, on a terminal of its own: Ctrl-C typed there is a signal to this process.
START = """
import fcntl, runpy, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
sys.argv[0] = "evaluation"
runpy.run_module("evaluation", run_name="__main__")
"""
SLOW = """
import time

def agent(obs, config):
    time.sleep(0.4 if obs.step < 14 else 0)
    return max(range(config.columns), key=lambda c: (obs.board[c] == 0, (c * 5 + obs.step) % 7))
"""


class Screen:
    """A command in a pseudo-terminal: what it writes, without escapes, and its end."""

    def __init__(self, arguments):
        self.master, slave = pty.openpty()
        hidden = ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
        self.process = subprocess.Popen(
            [sys.executable, "-c", START, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={name: value for name, value in os.environ.items() if name not in hidden}
            | {"TERM": "xterm-256color", "COLUMNS": "200"},
            start_new_session=True,
        )
        os.close(slave)
        self.text = ""

    def read(self, until, seconds=120):
        """Reads until a text appears, or to the end."""
        deadline = time.monotonic() + seconds
        while not re.search(until, self.text):
            assert time.monotonic() < deadline, f"no {until!r} in {self.text!r}"
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    data = os.read(self.master, 1 << 16)
                except OSError:  # Linux: the other side is closed
                    return self.text
                if not data:
                    return self.text
                self.text += ESCAPES.sub("", data.decode(errors="replace")).replace("\r", "\n")
        return self.text

    def close(self):
        self.read("(?!)")
        os.close(self.master)
        return self.process.wait(60)

    def kill(self):
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(60)


def facts(folder):
    return {
        str(game.id): (game.seed, game.record.moves, game.record.ending, game.imbalance)
        for game in read_games(folder)
    }


def test_a_terminal_shows_time_pass_and_ctrl_c_says_how_to_go_on(tmp_path):
    agent = tmp_path / "slow.py"
    agent.write_text(SLOW)
    folder = tmp_path / "out"
    arguments = [
        "tournament",
        str(agent),
        "random_legal",
        "--games",
        "4",
        "--jobs",
        "1",
        "--out",
        str(folder),
    ]
    screen = Screen(arguments)
    try:
        screen.read(r"1 of 4 games")
        before = len(re.findall(r"\d of 4 games", screen.text))
        screen.read(r"2 of 4 games, \S+ games/s, \d+ s left")
        assert len(re.findall(r"\d of 4 games", screen.text)) > before  # drawn while no game ended
        os.write(screen.master, b"\x03")
        assert screen.close() == 130
    finally:
        screen.kill()
    end = screen.text[screen.text.rindex("stopped after") :].split("\n")
    kept = len(list(read_games(folder)))
    assert 2 <= kept < 4
    said = [line for line in end if line]
    assert said[0] == f"stopped after {kept} games; all are kept in {folder}; go on with"
    assert said[1] == f"  python -m evaluation {shlex.join(arguments)}"
    assert said[2:] == ["stopped"]
    assert "Traceback" not in screen.text

    again = Screen(arguments)
    try:
        assert again.close() == 0
    finally:
        again.kill()
    assert "round robin of 2 agents, 4 games" in again.text
    play_tournament([str(agent), "random_legal"], games=4, out=tmp_path / "undisturbed")
    assert facts(folder) == facts(tmp_path / "undisturbed")


def test_ctrl_c_while_openings_are_solved(tmp_path):
    """With 33 cells empty an opening takes up to a second."""
    folder = tmp_path / "out"
    arguments = ["tournament", "random_legal", "one_step", "--opening-plies", "9", "--games", "2000"]
    screen = Screen([*arguments, "--jobs", "1", "--out", str(folder)])
    try:
        screen.read("solving opening [0-9]+")
        os.write(screen.master, b"\x03")
        assert screen.close() == 130
    finally:
        screen.kill()
    assert "go on with" in screen.text
    assert "Traceback" not in screen.text


def test_a_log_gets_a_line_now_and_then(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(live, "LINE_SECONDS", 0.0)
    with live.Progress() as progress:
        play_tournament(POOL, games=2, out=tmp_path, on_game=progress.on_game, on_opening=progress.on_opening)
    lines = capsys.readouterr().err.splitlines()
    assert any(line.startswith("0 of 6 games") for line in lines)
    assert any(re.match(r"5 of 6 games, \S+ games/s, \d+ s left", line) for line in lines)
    assert any("solving opening 1" in line for line in lines)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (61, "1 min 01 s"), (3599.6, "1 h 00 min"), (36061, "10 h 01 min")]
)
def test_durations(seconds, text):
    assert live._duration(seconds) == text
