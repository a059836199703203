"""Sending: only what has passed, by Kaggle's own command, which is a fake here."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from rich.console import Console
from typer.testing import CliRunner

import submission.__main__ as command
from submission import send
from submission.findings import finding
from submission.report import Report

MESSAGE = "it's 100 % [better]"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], Result]:
    """Sends main.py, whose check passes or fails, with nothing but `bin` on PATH."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command.console, "output", Console(width=60))

    def sent(passes: bool) -> Result:
        found = [] if passes else [finding("returns-none", "validation", "line 3")]
        report = Report("main.py", 10, findings=found)
        monkeypatch.setattr(command, "check", lambda *_: report)
        return CliRunner().invoke(command.app, ["send", "main.py", "-m", MESSAGE])

    return sent


@pytest.fixture
def client(tmp_path: Path) -> Callable[[int], Path]:
    """Puts a command `kaggle` on PATH that ends with this status; the file it writes its arguments to."""
    if os.name == "nt":
        pytest.skip("the fake command is a script with a #! line")

    def put(status: int) -> Path:
        path = tmp_path / "bin" / "kaggle"
        path.write_text(
            f"#!{sys.executable}\nimport json, sys\n"
            f"json.dump(sys.argv[1:], open({str(tmp_path / 'arguments')!r}, 'w'))\nsys.exit({status})\n"
        )
        path.chmod(0o755)
        return tmp_path / "arguments"

    return put


@pytest.mark.parametrize("status", [0, 3])
def test_kaggles_command_is_called_and_its_status_kept(run: Callable, client: Callable, status: int) -> None:
    arguments = client(status)
    assert run(True).exit_code == status
    assert json.loads(arguments.read_text()) == [
        "competitions", "submit", "connectx", "-f", "main.py", "-m", MESSAGE,
    ]  # fmt: skip


def test_a_file_that_fails_is_not_sent(run: Callable, client: Callable) -> None:
    arguments = client(0)
    done = run(False)
    assert done.exit_code == 1
    assert "returns-none" in done.stdout
    assert "not sent" in done.stdout
    assert not arguments.exists()


def test_without_kaggles_command_it_is_printed(run: Callable) -> None:
    done = run(True)
    assert done.exit_code == 0
    assert send.shown(Path("main.py"), MESSAGE) in done.stdout
    assert "pip install kaggle" in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="words are quoted as a POSIX shell takes them")
def test_the_printed_command_can_be_copied(client: Callable, run: Callable, tmp_path: Path) -> None:
    arguments = client(0)
    assert os.system(send.shown(Path("my main.py"), MESSAGE)) == 0
    assert json.loads(arguments.read_text())[4:] == ["my main.py", "-m", MESSAGE]


def test_a_message_is_asked_for(run: Callable) -> None:
    assert CliRunner().invoke(command.app, ["send", "main.py"]).exit_code == 2
