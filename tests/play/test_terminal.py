"""The terminal game, driven through a pseudo-terminal as a person would, and through pipes."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from typer.testing import CliRunner

from engine.board import Board
from play.__main__ import app
from play.records import Records, Standing
from play.terminal import draw_board

COMMAND = [sys.executable, "-m", "play", "--terminal"]
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
SCRIPTED = """
ANSWERS = "{answers}"

def agent(obs, config):
    return int(ANSWERS[obs.step // 2]) - 1
"""


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home of its own, in which nothing is set."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def scripted(tmp_path):
    """The spec of an agent that plays the columns of a string, numbered from 1."""

    def spec(answers):
        path = tmp_path / f"answers_{answers}.py"
        path.write_text(SCRIPTED.format(answers=answers))
        return str(path)

    return spec


# As `python -m play`, on a terminal of its own: Ctrl-C typed there is a signal to this process.
START = """
import fcntl, runpy, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
runpy.run_module("play", run_name="__main__")
"""


class Person:
    """Sits at a pseudo-terminal: waits for what the screen says, and types."""

    def __init__(self, *options, term="xterm-256color", **variables):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", START, "--terminal", *options],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, "TERM": term, **variables},
            start_new_session=True,
        )
        os.close(slave)
        self.screen = ""
        self.seen = 0

    def sees(self, text, seconds=60):
        """Waits until `text` appears after what was seen before; all that came up to it."""
        end = time.monotonic() + seconds
        while (found := self.screen.find(text, self.seen)) < 0:
            assert self._read(end - time.monotonic()), f"no {text!r} in {self.screen[self.seen :]!r}"
        before, self.seen = self.screen[self.seen : found], found + len(text)
        return before

    def types(self, text, end="\r"):
        os.write(self.master, (text + end).encode())

    def leaves(self):
        """The exit status, at the end of the program."""
        while self.master and self._read(60):
            pass
        self.hang_up()
        return self.process.wait(60)

    def hang_up(self):
        """Closes the terminal."""
        if self.master:
            os.close(self.master)
        self.master = 0

    def _read(self, seconds):
        if not select.select([self.master], [], [], max(0, seconds))[0]:
            return False
        with suppress(OSError):  # how Linux tells the end of a pseudo-terminal
            data = os.read(self.master, 65536)
            self.screen += data.decode(errors="replace").replace("\r\n", "\n")
            return bool(data)
        return False


@pytest.fixture
def sit_down():
    """Starts the program with some options; what still runs at the end of the test is ended."""
    people = []

    def start(*options, **variables):
        people.append(Person(*options, **variables))
        return people[-1]

    yield start
    for person in people:
        person.process.kill()
        person.leaves()


def test_a_game_is_won(sit_down, scripted):
    spec = scripted("111")
    person = sit_down("--agent", spec, "--begins", "you")
    person.sees("you (X), 1 2 3 4 5 6 7 or ")
    for column in "4444":
        person.sees("quit: ")
        person.types(column)
        person.sees(f"you (X): {column}")
    person.sees("you (X) win.")
    person.sees("Congratulations! Your first win against")
    assert person.leaves() == 0
    assert Records().standing(spec, Board()) == Standing(games=1, wins=1, fewest_discs=7)
    assert person.screen.count("(X)\x1b") == 4  # the winning line, in colour
    assert "Traceback" not in person.screen


def test_a_game_is_lost_and_one_resigned(sit_down, scripted):
    spec = scripted("2222")
    person = sit_down("--agent", spec, "--begins", "agent")
    for column in ("1", "1", "1"):
        person.sees("you (O), 1 2 3 4 5 6 7 or ")
        person.types(column)
    person.sees(f"{spec} (X) wins.")
    person.sees("has won this time")
    assert person.leaves() == 0
    person = sit_down("--agent", spec, "--begins", "you")
    person.types("resign")
    person.sees(f"{spec} (O) wins: you resigned.")
    assert person.leaves() == 0
    assert Records().standing(spec, Board()) == Standing(games=2)


def test_a_draw(sit_down, scripted):
    spec = scripted("21")
    person = sit_down(
        "--agent", spec, "--rows", "2", "--columns", "2", "--inarow", "3", "--begins", "you", NO_COLOR="1"
    )
    person.types("1")
    person.sees(" .  .\n[X] .\n 1  2")
    person.types("2")
    person.sees("The board is full: a draw.")
    person.sees("A draw: neither you nor")
    assert person.leaves() == 0


def test_asked_again_until_the_move_is_legal(sit_down, scripted):
    person = sit_down("--agent", scripted("111"), "--begins", "you")
    for column in "111":
        person.sees("quit: ")
        person.types(column)
    for typed, answer in (
        ("four", "'four' is neither a number nor a command: h hint, u undo, r redo, resign, q quit."),
        ("", "Type a number, or a command: h hint"),
        ("   ", "Type a number, or a command: h hint"),
        ("99", "99 cannot be played here: 2 3 4 5 6 7 can."),
        ("0", "0 cannot be played here: "),
        ("-1", "'-1' is neither a number"),
        ("4.0", "'4.0' is neither a number"),
        ("1", "1 cannot be played here: 2 3 4 5 6 7 can."),
        ("9" * 3000, "999999999999 cannot be played here"),
        ("\u0664", "'\u0664' is neither a number"),
        ("[bold]", "'[bold]' is neither a number"),
    ):
        person.sees("you (X), 2 3 4 5 6 7 or ")
        person.sees("quit: ")
        person.types(typed)
        person.sees(answer)
    person.types(" 2 ")
    person.sees("you (X): 2")
    assert "Traceback" not in person.screen


def test_undo_redo_and_hint(sit_down, scripted):
    person = sit_down("--agent", scripted("123"), "--begins", "you", "--seconds", "0.2", NO_COLOR="1")
    for command, answer in (
        ("u", "There is nothing to take back."),
        ("r", "There is nothing to play again."),
    ):
        person.sees("quit: ")
        person.types(command)
        person.sees(answer)
    person.types("4")
    person.sees("[O] .  .  X")
    person.types("UNDO")
    person.sees("quit: ")
    assert "X" not in person.sees("1  2  3")
    person.types("redo")
    person.sees("[O] .  .  X")
    person.types("h")
    person.sees("Hint: ")
    person.types("q")
    person.sees("The game is left unfinished.")
    assert person.leaves() == 0


@pytest.mark.parametrize(
    ("term", "variables", "coloured"),
    [("xterm-256color", {}, True), ("dumb", {}, False), ("xterm-256color", {"NO_COLOR": "1"}, False)],
)
def test_colours_only_where_the_terminal_has_them(sit_down, term, variables, coloured):
    person = sit_down("--begins", "you", term=term, **variables)
    person.sees("quit: ")
    person.types("q")
    assert person.leaves() == 0
    assert bool(ESCAPES.search(person.screen)) is coloured
    assert " .  .  .  .  .  .  .\n" in ESCAPES.sub("", person.screen)


@pytest.mark.parametrize(
    ("key", "status", "told"), [("\x04", 0, "The game is left unfinished."), ("\x03", 130, "stopped")]
)
def test_end_of_input_and_ctrl_c(sit_down, key, status, told):
    person = sit_down("--begins", "you")
    person.sees("quit: ")
    # Between printing a prompt and waiting for a line Python misses a signal: such a key is typed again.
    time.sleep(0.2)
    person.types(key, end="")
    while told not in person.screen and person.process.poll() is None:
        if not person._read(5):
            person.types(key, end="")
    assert person.leaves() == status
    assert told in person.screen
    assert "Traceback" not in person.screen


def test_a_terminal_that_goes_away_ends_the_program(sit_down):
    person = sit_down("--begins", "you")
    person.sees("quit: ")
    person.hang_up()
    no_flush = 120  # Python's status where nothing can be written at its end
    assert person.process.wait(60) in (0, 1, no_flush, 130, -signal.SIGHUP)


def test_tictactoe_is_never_lost_by_the_search(sit_down):
    person = sit_down("--game", "tictactoe", "--begins", "you")
    person.sees("0 1 2\n3 4 5\n6 7 8")
    for typed, answer in (("9", "9 cannot be played here: 0 1 2"), ("1", "you (X): 1"), ("h", "Hint: ")):
        person.sees("quit: ")
        person.types(typed)
        person.sees(answer)
    hint = person.sees("\n")
    person.types(hint)
    while "wins" not in person.screen and "draw" not in person.screen:
        person.sees("you (X), ")
        person.types(person.sees(" "))
        person.sees("you (X): ")
        while not re.search(r"wins|draw|quit: $", person.screen[person.seen :]):
            assert person._read(60)
    assert person.leaves() == 0
    assert "you (X) win" not in person.screen


def test_two_agents_are_watched(sit_down, scripted):
    person = sit_down("--watch", scripted("1111"), scripted("2223"))
    person.sees("answers_1111.py (X) wins.")
    assert person.leaves() == 0
    assert "quit" not in person.screen
    assert not Records().path.exists()


def test_an_agent_that_breaks_forfeits(sit_down, scripted, tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("def agent(obs, config):\n    return None\n")
    person = sit_down("--agent", str(broken), "--begins", "agent")
    person.sees("broken.py answered None, which is no column it can play")
    person.sees("you (O) win: ")
    person.sees("This game does not count.")
    assert person.leaves() == 0
    assert not Records().path.exists()


def through_pipes(*options, keys=""):
    return subprocess.run(
        [*COMMAND, *options], input=keys, capture_output=True, text=True, timeout=120, check=False
    )


def test_through_pipes_it_is_plain(scripted):
    answer = through_pipes("--agent", scripted("111"), "--begins", "you", keys="4\n4\n")
    assert answer.returncode == 0
    assert "\x1b" not in answer.stdout
    assert "thinking" not in answer.stdout
    assert answer.stdout.endswith("The game is left unfinished.\n")
    assert answer.stderr == ""


def test_input_that_is_no_text(scripted):
    answer = subprocess.run(
        [*COMMAND, "--begins", "you"],
        input=b"\xff\xfe\n\x00\n",
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    assert answer.returncode == 0
    assert answer.stdout.count(b"is neither a number nor a command") == 2
    assert answer.stderr == b""


def in_process(*options, keys=""):
    return CliRunner().invoke(app, ["--terminal", *options], input=keys)


def test_debug_prints_values_and_searches(scripted):
    answer = in_process("--agent", "alpha_beta:DEPTH=2", "--begins", "you", "--debug", keys="4\n")
    assert "move 1, you: column 4\nvalues at depth 4: 1: " in answer.stdout
    assert "move 2, alpha_beta:DEPTH=2: column " in answer.stdout
    assert "\nalpha_beta:DEPTH=2 searched 2 deep: value " in answer.stdout


def test_what_is_not_given_comes_from_the_settings(home):
    (home / "config" / "connectx-kit").mkdir(parents=True)
    file = home / "config" / "connectx-kit" / "settings.ini"
    file.write_text("[GAME]\nOpponent = random_legal\nBegins = agent\n[BOARD]\nColumns = 4\n")
    answer = in_process()
    assert "random_legal (X): " in answer.stdout
    assert "1  2  3  4\n" in answer.stdout
    assert "  5" in in_process("--columns", "5").stdout
    file.write_text("[GAME]\nBegins = nobody\n")
    answer = in_process()
    assert answer.exit_code == 0
    assert f"{file}, line 2: Begins must be random, you or agent, not 'nobody'" in answer.stderr
    assert "1  2  3  4  5  6  7" in answer.stdout
    assert file.read_text() == "[GAME]\nBegins = nobody\n"


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--terminal", "--agent", "nobody"], "there is no agent 'nobody'"),
        (["--terminal", "--agent", "n_step:STEPS=1"], "no constant STEPS"),
        (["--terminal", "--watch", "one_step", "nobody"], "there is no agent 'nobody'"),
        (["--terminal", "--seconds", "0"], "--seconds 0 leaves no time for a move"),
        (["--game", "tictactoe"], "tic-tac-toe is played in the terminal: add --terminal"),
        (
            ["--terminal", "--game", "tictactoe", "--agent", "one_step"],
            "--agent does not go with tic-tac-toe",
        ),
        (["--terminal", "--game", "tictactoe", "--rows", "4"], "--rows does not go with tic-tac-toe"),
    ],
)
def test_options_that_make_no_sense(options, complaint):
    answer = CliRunner().invoke(app, options)
    assert complaint in str(answer.exception)


def test_mistakes_give_one_line():
    answer = through_pipes("--rows", "0")
    assert answer.returncode == 2
    assert answer.stdout == ""
    assert answer.stderr.startswith("error: ")
    assert answer.stderr.count("\n") == 1


def test_records_that_cannot_be_kept_do_not_spoil_the_end(home, scripted):
    (home / "data").write_text("a file where a folder should be")
    answer = in_process("--agent", scripted("111"), "--begins", "you", keys="resign\n")
    assert answer.exit_code == 0
    assert "you resigned" in answer.stdout
    assert answer.stderr.startswith("warning: the records ")


def test_the_drawing_of_wide_boards():
    board = Board.from_moves("9,1,10,1,8", 4, 10, 3)
    assert draw_board(board).plain.splitlines()[-3:] == [
        "  O   .   .   .   .   .   .   .   .   .",
        "  O   .   .   .   .   .   .  (X) (X) (X)",
        "  1   2   3   4   5   6   7   8   9  10",
    ]


def test_a_level_is_an_opponent():
    assert "Expert (X): " in in_process("--agent", "Expert", "--begins", "agent", "--seconds", "0.1").stdout
    watched = in_process("--watch", "Easy", "random_legal", "--rows", "2", "--columns", "2")
    assert "Easy (X): " in watched.stdout
    assert "The board is full: a draw." in watched.stdout
