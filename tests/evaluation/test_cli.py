"""`python -m evaluation` as a person runs it."""

import io
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from engine.board import BoardError
from evaluation import console
from evaluation.__main__ import app
from evaluation.errors import InputError

COMMAND = [sys.executable, "-m", "evaluation"]


def match(*arguments):
    return CliRunner().invoke(app, ["match", *arguments])


def run(monkeypatch, *arguments, program=app):
    """The exit status of the whole program in this process."""
    monkeypatch.setattr(sys, "argv", ["evaluation", *arguments])
    with pytest.raises(SystemExit) as end:
        console.run(program)
    return end.value.code or 0


def test_a_match_prints_its_result():
    answer = match("random_legal", "kaggle:random", "--games", "10", "--seed", "3", "--columns", "5")
    assert answer.exit_code == 0
    lines = answer.stdout.splitlines()
    assert lines[0] == "random_legal against kaggle:random"
    assert lines[-1] == "  played with     fast referee, seed 3, 6x5 board, inarow 4"
    assert any(line.startswith("  95 % interval") for line in lines)
    assert answer.stderr == ""  # progress is for terminals


def test_json_is_all_of_standard_output():
    answer = match("random_legal", "random_legal", "--games", "6", "--rows", "4", "--inarow", "3", "--json")
    told = json.loads(answer.stdout)
    assert told["wins"] + told["draws"] + told["losses"] == told["games"] == 6
    assert (told["configuration"]["rows"], told["configuration"]["inarow"]) == (4, 3)
    assert (told["configuration"]["actTimeout"], answer.stderr) == (2, "")


def test_every_option_reaches_the_match():
    first = json.loads(match("random_legal", "random_legal", "--games", "8", "--json").stdout)
    assert first["seed"] == 0
    other = json.loads(
        match(
            *("random_legal", "random_legal", "--games", "8", "--json", "--seed", "9", "--jobs", "2"),
            *("--act-timeout", "1.5", "--opening-plies", "0"),
        ).stdout
    )
    assert (other["seed"], other["configuration"]["actTimeout"], other["distinct_openings"]) == (9, 1.5, 1)


def test_the_replay_of_the_first_game(tmp_path):
    pytest.importorskip("kaggle_environments")
    page = tmp_path / "game.html"
    answer = match("random_legal", "random_legal", "--games", "2", "--referee", "kaggle", "--html", str(page))
    assert answer.exit_code == 0
    assert "<html" in page.read_text(encoding="utf-8")
    assert f"the first game is in {page}" in answer.stderr.replace("\n", "")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "Missing command"),
        (["mach"], "No such command 'mach'"),
        (["match", "random_legal"], "Missing argument"),
        (["match", "random_legal", "random_legal", "--games", "many"], "Invalid value for '--games'"),
        (["match", "random_legal", "random_legal", "--games", "0"], "games must be at least 1, not 0"),
        (["match", "random_legal", "random_legal", "--referee", "slow"], "Invalid value for '--referee'"),
        (["match", "random_legal", "random_legal", "--bogus"], "No such option"),
        (["match", "random_legal", "random_legal", "--rows", "0"], "rows=0"),
        (["match", "random_legal", "nobody[x]"], "'nobody[x]' is no agent"),
        (["match", "random_legal", "no/such/main.py"], "cannot read the agent's file"),
        (
            ["match", "random_legal", "random_legal", "--html", "/no/such/game.html"],
            "there is no folder /no/such",
        ),
    ],
)
def test_a_mistake_is_one_line_and_status_2(monkeypatch, capsys, arguments, complaint):
    assert run(monkeypatch, *arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert complaint in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(
    "error", [InputError("that [bold]way[/] not"), BoardError("column 9 does not exist")]
)
def test_errors_of_people_end_any_program(monkeypatch, capsys, error):
    def program(standalone_mode):
        raise error

    assert run(monkeypatch, program=program) == 2
    assert capsys.readouterr().err == f"error: {error}\n"


def test_a_bug_shows_its_traceback(monkeypatch):
    def program(standalone_mode):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        console.run(program)


def test_success_is_status_0(monkeypatch, capsys):
    assert run(monkeypatch, "match", "random_legal", "random_legal", "--games", "2") == 0
    assert capsys.readouterr().err == ""


def test_help_names_the_options(monkeypatch, capsys):
    assert run(monkeypatch, "match", "--help") == 0
    assert "--opening-plies" in capsys.readouterr().out


def test_progress_stays_out_of_what_an_agent_writes(monkeypatch):
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    terminal, agents = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", terminal)
    with console.progress() as bar:
        task = bar.add_task("won 1", total=2)
        monkeypatch.setattr(sys, "stderr", agents)
        bar.update(task, advance=1, description="won 2", refresh=True)
    assert "won 2" in terminal.getvalue()
    assert "1/2" in terminal.getvalue()
    assert agents.getvalue() == ""


@pytest.mark.parametrize("quiet", [True, False])
def test_progress_is_for_terminals(monkeypatch, quiet):
    monkeypatch.setenv("TTY_COMPATIBLE", "1" if quiet else "0")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with console.progress(quiet) as bar:
        bar.update(bar.add_task("", total=1), advance=1, refresh=True)
    assert sys.stderr.getvalue() == ""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX terminals")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_reports_the_games_so_far(tmp_path, jobs):
    agent, calls = tmp_path / "slow.py", tmp_path / "calls"
    calls.touch()
    agent.write_text(
        "import time\n"
        "def agent(obs, config):\n"
        "    time.sleep(0.02)\n"
        f"    print(file=open({str(calls)!r}, 'a'))\n"
        "    return obs.board[: config.columns].index(0)\n"
    )
    arguments = ["match", str(agent), str(agent), "--games", "300", "--jobs", jobs, "--json", "--trust"]
    process = subprocess.Popen(
        [*COMMAND, *arguments, "--rows", "2", "--columns", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while process.poll() is None and calls.stat().st_size < 40:  # several games of at most four moves
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers as well
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "stopped\n")
    told = json.loads(out)
    assert 0 < told["games"] < 300
    assert told["draws"] == told["games"]
