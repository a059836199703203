"""Promises of the project as a whole: the README's commands, the make targets, the pinned requirements."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    lines = "\n".join(blocks("sh")).splitlines()
    return [line.partition("#")[0].strip() for line in lines if line.strip()]


def run(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        arguments, check=False, cwd=folder, env=environment, capture_output=True, text=True, timeout=280
    )


def test_the_make_targets_of_the_readme_exist():
    targets = [command.split()[1] for command in commands() if command.startswith("make ")]
    assert targets[:2] == ["submission", "test"]
    for target in targets:
        # Old enough that nothing is set up: only what would be done is printed.
        assert run(["make", "-n", "-C", str(ROOT), target], ROOT).returncode == 0, target


def test_the_python_commands_of_the_readme_run_in_order(tmp_path):
    python = [command for command in commands() if command.startswith("python ")]
    assert len(python) >= 4
    for command in python:
        arguments = shlex.split(command)[1:]
        if "play" in arguments and "--watch" not in arguments:  # waits for a person
            arguments.append("--help")
        done = run([sys.executable, *arguments], tmp_path)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    assert (tmp_path / "main.py").is_file()
    assert "<html" in (tmp_path / "replay.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("source", blocks("python"))
def test_the_python_of_the_readme_runs(source, tmp_path):
    done = run([sys.executable, "-c", source], tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Agent 1 Win Percentage:" in done.stdout


def test_the_links_of_the_readme_lead_somewhere():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    local = [link for link in links if not link.startswith("https://")]
    assert local
    for link in local:
        assert (ROOT / link).exists(), link


def test_requirements_are_pinned():
    for name in ("requirements.txt", "requirements-cluster.txt", "requirements-dev.txt"):
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
            requirement = line.partition("#")[0].strip()
            if requirement and not requirement.startswith("-r "):
                assert re.fullmatch(r"[\w.-]+==[\w.]+", requirement), f"{name}: {line}"


def test_import_contracts_catch_a_breach(tmp_path):
    """A contract that nothing can break would be no check: an agent that imports the harness is caught."""
    for folder in ("engine", "agents", "evaluation", "play", "submission"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    breach = tmp_path / "agents" / "random_legal.py"
    breach.write_text("import evaluation\n" + breach.read_text(encoding="utf-8"), encoding="utf-8")
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [str(lint), "--no-cache"], check=False, cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1, done.stdout
    assert "agents stand on engine alone" in done.stdout
    assert "agents.random_legal -> evaluation" in done.stdout
