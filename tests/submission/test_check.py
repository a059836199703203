"""The check: every pitfall by name, harmless files without findings, whole checks, the command."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

import submission.__main__ as command
from evaluation.errors import InputError
from evaluation.loading import known_agents
from evaluation.pitfalls import FAILURE, PITFALLS, WARNING
from submission.bundle import write_bundle
from submission.check import MAX_BYTES, Settings, check
from submission.conditions import SINGLE, Wanted
from submission.pythons import pythons
from submission.report import Comparison, Report

ROOT = Path(__file__).parents[2]
PITFALL_FILES = sorted(Path(__file__).with_name("pitfalls").glob("*.py"))
HARMLESS_FILES = sorted(Path(__file__).with_name("harmless").glob("*.py"))
FIRST_LEGAL = "def agent(obs, config):\n    return obs.board.index(0)\n"

# No more than the pitfalls need. A move has time enough for a machine that stalls, except where time is what
# the pitfall is about.
QUICK = Settings(
    act_timeout=4.0,
    memory=512 * 2**20,
    opponents=(),
    boards=(),
    positions=20,
    restrictions=(),
    small_memory=60 * 2**20,
    random=Wanted(0, 0.0),
    pythons=list,
)
TIMED = replace(QUICK, act_timeout=1.0, slow_load=0.5, overage=1.0, grace=1.5, repetitions=0)
HALF = SINGLE[-1]
# Moves take little, but whatever a busy machine takes is no finding.
PATIENT = replace(
    QUICK,
    act_timeout=0.1,
    overage=600.0,
    slow_load=10.0,
    positions=12,
    restrictions=SINGLE[:-1],
    small_memory=10**9,
    random=Wanted(40, 2.0),
)
RESTRICTED = {
    "full-column--seldom": replace(QUICK, random=Wanted(4000, 20.0)),
    "fails-restricted": replace(QUICK, restrictions=SINGLE[:-1], random=Wanted(1, 1.0)),
    "other-python": replace(QUICK, pythons=pythons),
    "slow-on-half": replace(QUICK, act_timeout=0.6, overage=600.0, restrictions=(HALF,), repetitions=0),
}
OTHER_BOARDS = replace(QUICK, boards=((5, 1, 4), (2, 3, 3)))

# Warnings that have come true in a fixture: what the text shows made the file fail.
COME_TRUE = {
    "appended-file--new-helper",
    "dunder-file",
    "hidden-fallback",
    "hidden-fallback--absolute",
    "import-inside-agent",
    "kept-stream",
    "main-guard",
    "main-guard--agent",
    "obsolete-timeout--times-out",
    "slow-load--times-out",
}


def settings_for(path: Path) -> Settings:
    if path.parent.name == "harmless" or path.stem == "other-configurations":
        return OTHER_BOARDS
    if path.stem in RESTRICTED:
        return RESTRICTED[path.stem]
    if path.stem.startswith("needs-"):
        name = path.stem.partition("--")[0]
        return replace(QUICK, restrictions=tuple(each for each in SINGLE if each.finding == name))
    if path.stem == "memory-hungry":
        return replace(QUICK, memory=160 * 2**20)
    return TIMED if path.stem.startswith(("never", "obsolete", "overage", "slow", "times")) else QUICK


@pytest.fixture(scope="module")
def reports(request: pytest.FixtureRequest) -> Iterator[Callable[[Path], Report]]:
    """The report on a file of ours; those the tests ask for are checked in the background, two at a time."""
    params = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    wanted = {values["path"] for values in params if "path" in values}
    with ThreadPoolExecutor(2) as pool:
        futures: dict[Path, Future[Report]] = {}
        for path in (*PITFALL_FILES, *HARMLESS_FILES):
            if path in wanted:
                futures[path] = pool.submit(check, path, settings_for(path))
        yield lambda path: futures[path].result()
        pool.shutdown(cancel_futures=True)


@pytest.fixture
def main(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a submission of this text."""

    def write(source: str) -> Path:
        path = tmp_path / "main.py"
        path.write_text(source, encoding="utf-8")
        return path

    return write


def ids(report: Report) -> list[str]:
    return [found.id for found in report.findings]


def shown(report: Report) -> str:
    console = Console(width=100, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    with console.file:
        console.print(report)
    return console.export_text()


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.slow] if path.stem == "slow-on-half" else [])
        for path in PITFALL_FILES
    ],
)
def test_a_pitfall_is_found_under_its_name_and_no_other(path: Path, reports: Callable) -> None:
    if path.stem == "blas-threads" and os.cpu_count() == 1:
        pytest.skip("BLAS has one thread where there is one processor")
    if path.stem == "other-python" and not pythons():
        pytest.skip("there is no other Python from 3.10 on")
    report = reports(path)
    name = path.stem.partition("--")[0]
    assert ids(report) == [name], report.findings
    assert report.findings[0].seen
    assert name in shown(report)
    fails = PITFALLS[name].severity is FAILURE or path.stem in COME_TRUE
    assert report.ok is not fails


@pytest.mark.parametrize("path", HARMLESS_FILES, ids=lambda path: path.stem)
def test_what_does_no_harm_is_not_found(path: Path, reports: Callable) -> None:
    report = reports(path)
    assert (report.ok, report.findings) == (True, [])


def test_every_pitfall_has_a_fixture() -> None:
    made_here = {"archive-layout", "too-large"}
    assert {path.stem.partition("--")[0] for path in PITFALL_FILES} | made_here == set(PITFALLS)
    assert {path.stem for path in PITFALL_FILES} >= COME_TRUE


@pytest.mark.parametrize("name", PITFALLS)
def test_a_pitfall_is_told_in_two_lines(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    for text in (PITFALLS[name].what, PITFALLS[name].remedy):
        assert text
        assert "\n" not in text


# Files and archives


def packed(path: Path, files: dict[str, str]) -> Path:
    """An archive of these files."""
    folder = path.parent / "files"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
            archive.add(folder / name, name)
    return path


def test_an_archive_with_modules_and_data(tmp_path: Path) -> None:
    main = (
        "from helpers import first_legal\n"
        "with open('/kaggle_simulations/agent/data/order.txt') as file:\n    ORDER = file.read()\n"
        "def agent(obs, config):\n    return first_legal(obs)\n"
    )
    helpers = "def first_legal(obs):\n    return obs.board.index(0)\n"
    files = {"main.py": main, "helpers.py": helpers, "data/order.txt": "0123456"}
    report = check(packed(tmp_path / "submission.tar.gz", files), QUICK)
    assert ids(report) == []
    assert report.notes
    assert report.validation


def test_an_archive_whose_agent_imports_its_module_too_late(tmp_path: Path) -> None:
    main = "def agent(obs, config):\n    from helpers import first_legal\n    return first_legal(obs)\n"
    files = {"main.py": main, "helpers.py": "def first_legal(obs):\n    return obs.board.index(0)\n"}
    report = check(packed(tmp_path / "submission.tar.gz", files), QUICK)
    assert (ids(report), report.ok) == (["import-inside-agent"], False)


def test_an_archive_of_a_folder(tmp_path: Path) -> None:
    report = check(packed(tmp_path / "submission.tar.gz", {"agent/main.py": FIRST_LEGAL}), QUICK)
    assert (ids(report), report.ok) == (["archive-layout"], False)
    assert "agent/main.py" in report.findings[0].seen


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x1f\x8b\x08\x00broken"])
def test_no_archive(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "submission.tar.gz"
    path.write_bytes(content)
    assert ids(check(path, QUICK)) == ["archive-layout"]


def test_an_archive_that_reaches_outside(tmp_path: Path) -> None:
    path = packed(tmp_path / "submission.tar.gz", {"main.py": FIRST_LEGAL})
    with tarfile.open(path, "w:gz") as archive:
        archive.add(__file__, "../outside.py")
    assert ids(check(path, QUICK)) == ["archive-layout"]


def test_too_large(tmp_path: Path) -> None:
    path = tmp_path / "main.py"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    assert ids(check(path, QUICK)) == ["too-large"]


def test_a_missing_file() -> None:
    with pytest.raises(InputError, match=r"no file nowhere\.py: make one with"):
        check("nowhere.py")


# Isolation


def test_the_child_sees_nothing_of_the_kit(main: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    monkeypatch.chdir(ROOT)
    source = """
import os, sys
import numpy, kaggle_environments
for name in ("engine", "agents", "evaluation", "submission", "child"):
    try:
        __import__(name)
    except ImportError:
        continue
    raise AssertionError(name)
assert not [name for name in os.environ if "THREADS" in name or "PYTHON" in name], os.environ
assert os.listdir() == [], os.listdir()
assert sys.stdin.read() == ""
assert "__file__" not in globals() and __name__ == "builtins"
def agent(obs, config):
    assert config["__raw_path__"].endswith("/kaggle_simulations/agent/main.py")
    assert not os.getcwd().endswith("agent")
    return obs.board.index(0)
"""
    report = check(main(source), replace(QUICK, repetitions=1))
    assert ids(report) == ["foreign-package"], report.findings  # kaggle_environments


def test_what_it_started_ends_with_it(main: Callable, tmp_path: Path) -> None:
    source = f"""
import subprocess, sys
CHILD = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
with open({str(tmp_path / "pid")!r}, "w") as file:
    file.write(str(CHILD.pid))
while True:
    pass
"""
    assert ids(check(main(source), replace(TIMED, overage=0.0, grace=0.5))) == ["never-returns"]
    status = Path(f"/proc/{(tmp_path / 'pid').read_text()}/stat")
    assert not status.exists() or status.read_text().split()[2] == "Z"


def test_output_past_python_does_not_disturb(main: Callable) -> None:
    source = "import os\nos.write(1, b'noise' * 50000)\nos.write(2, b'{}\\n' * 50000)\n" + FIRST_LEGAL
    assert ids(check(main(source), QUICK)) == []


def test_ctrl_c_ends_the_child(main: Callable) -> None:
    def interrupt(_step: str, detail: str | None) -> None:
        if detail:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(main(FIRST_LEGAL), QUICK, interrupt)


def test_what_no_one_expects(main: Callable) -> None:
    source = """
class Odd(Exception):
    name = filename = object()
    def __str__(self):
        raise ValueError
def agent(obs, config):
    raise Odd
"""
    report = check(main(source), QUICK)
    assert ids(report) == ["raises-exception"]
    assert "Odd" in report.findings[0].seen


def test_a_compiler_that_is_not_there_is_no_data_file(main: Callable) -> None:
    report = check(main("import subprocess\nsubprocess.run(['no-such-compiler'])\n" + FIRST_LEGAL), QUICK)
    assert ids(report) == ["load-error"]


# Games and the comparison


def test_a_failure_that_only_an_opponent_shows(main: Callable) -> None:
    source = """
def agent(obs, config):
    column = obs.board.index(0)  # against itself it fills the columns from the left
    return "?" if any(obs.board[35 + column + 1 :]) else column
"""
    report = check(main(source), replace(QUICK, opponents=("random",)))
    assert ids(report) == ["returns-wrong-type"]
    assert "the game against random" in report.findings[0].seen
    assert report.games[-1].problem == "returns-wrong-type"


def test_each_board_is_tried(main: Callable) -> None:
    source = "def agent(obs, config):\n    return obs.board.index(0) if config.rows != 3 else 7\n"
    report = check(main(source), replace(QUICK, boards=((4, 3, 3), (3, 4, 3), (2, 2, 3), (3, 3, 1))))
    assert ids(report) == ["other-configurations"]
    bad = "column-out-of-range"
    assert [game.problem for game in report.boards] == [None, bad, None, bad]


def test_a_process_lost_on_another_board(main: Callable) -> None:
    source = FIRST_LEGAL.replace("return", "return config.columns == 1 and __import__('os')._exit(3) or")
    report = check(main(source), replace(QUICK, boards=((4, 3, 3), (5, 1, 4), (2, 2, 3))))
    assert (ids(report), report.ok) == (["other-configurations"], True)
    assert [game.problem for game in report.boards] == [None, "process-dies"]


@pytest.mark.parametrize("agent", sorted(known_agents()))
def test_nothing_is_found_in_the_bundles_of_the_kit(agent: str, tmp_path: Path) -> None:
    write_bundle(agent, tmp_path / "main.py")
    report = check(tmp_path / "main.py", PATIENT)
    assert (report.ok, report.findings) == (True, [])
    assert report.comparison == Comparison(positions=12, different=0)
    assert report.conditions[-1].positions


@pytest.mark.slow
@pytest.mark.parametrize("agent", sorted(known_agents()))
def test_nothing_is_found_in_the_bundles_of_the_kit_by_a_whole_check(agent: str, tmp_path: Path) -> None:
    write_bundle(agent, tmp_path / "main.py")
    report = check(tmp_path / "main.py")
    assert (report.ok, report.findings) == (True, [])


def test_what_varies_is_not_compared(main: Callable) -> None:
    source = "# spec: one_step\nimport secrets\n" + FIRST_LEGAL.replace(
        "obs.board.index(0)", "secrets.choice([c for c in range(7) if not obs.board[c]])"
    )
    report = check(main(source), QUICK)
    assert (ids(report), report.comparison) == (["nondeterministic"], None)
    assert any("vary" in note for note in report.notes)


def test_an_unknown_spec_is_not_compared(main: Callable) -> None:
    report = check(main("# spec: path/to/mine.py\n" + FIRST_LEGAL), QUICK)
    assert (ids(report), report.comparison) == ([], None)
    assert any("path/to/mine.py" in note for note in report.notes)


# Commands


@pytest.fixture(scope="module")
def one_step(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bundle") / "main.py"
    write_bundle("one_step", path)
    return path


def run_check(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "submission", "check", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_whole_check_of_a_bundle(one_step: Path) -> None:
    done = run_check(str(one_step), "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, done.stderr, report["ok"], report["findings"]) == (0, "", True, [])
    conditions = {condition["label"]: condition for condition in report["conditions"]}
    assert set(conditions) > {restriction.label for restriction in SINGLE}
    assert all(condition["how"] for condition in conditions.values()), conditions
    assert conditions["All, files in memory"]["positions"] >= 100
    assert conditions["All of these at once"]["positions"] >= 10
    assert report["bank"] == 60
    assert report["repetition"]
    assert report["spec"] == "one_step"
    assert report["comparison"] == {"positions": 200, "different": 0}
    assert [game["label"] for game in report["games"]] == [
        f"{opponent}, moving {seat}" for opponent in ("Random", "Negamax") for seat in ("first", "second")
    ]
    assert {game["label"]: game["problem"] for game in report["boards"]}["5x1/4"] is None
    assert report["loading"]["callable"] == "agent"
    assert report["loading"]["arguments"] == 2
    times = report["times"]
    assert 0 < times["median"] <= times["p99"] <= times["longest"]
    assert times["first"] > report["loading"]["seconds"] / 10


def test_a_failure_gives_status_1_and_a_remedy() -> None:
    done = run_check(str(Path(__file__).with_name("pitfalls") / "returns-float.py"))
    assert (done.returncode, done.stderr) == (1, "")
    shown = " ".join(done.stdout.split())  # where lines break depends on how long the file's path is
    for text in ("returns-float", "remedy", PITFALLS["returns-float"].remedy, "is not ready for Kaggle"):
        assert text in shown


def test_a_missing_file_gives_one_line_and_status_2() -> None:
    done = run_check("nowhere.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"error: there is no file nowhere\.py: .*\n", done.stderr)


def test_everything_for_the_strongest_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "STRONGEST", "one_step")
    monkeypatch.setattr(command, "BENCHMARK", {"random_legal": 4})
    monkeypatch.setattr(command, "check", lambda path, _settings, progress: check(path, QUICK, progress))
    monkeypatch.setattr(command.console, "output", Console(width=100))
    done = CliRunner().invoke(command.app, [])
    assert (done.exit_code, done.exception) == (0, None)
    assert (tmp_path / "main.py").exists()
    for text in ("is ready for Kaggle", "random_legal", "kaggle competitions submit connectx -f main.py -m"):
        assert text in done.stdout


def test_a_bundle_that_fails_is_not_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(_spec: str, path: Path) -> None:
        path.write_text("def agent(obs, config):\n    return None\n")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "write_bundle", write)
    done = CliRunner().invoke(command.app, [])
    assert done.exit_code == 1
    assert "returns-none" in done.stdout
    assert "Measure" not in done.stdout


def test_severities_sort_the_gravest_first(main: Callable) -> None:
    source = "import requests\nprint('loaded')\ndef agent(obs, config):\n    return 3\n"
    report = check(main(source), QUICK)
    assert [found.severity for found in report.findings] == [FAILURE, WARNING]
    assert ids(report) == ["full-column", "foreign-package"]
