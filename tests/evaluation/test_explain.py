"""What `explain` names: every pitfall that fails an episode, from what Kaggle shows of it."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console
from typer.testing import CliRunner

from evaluation import referee
from evaluation.__main__ import app
from evaluation.errors import InputError
from evaluation.explain import CONFIRM, explanations, to_json
from evaluation.pitfalls import PITFALLS
from evaluation.records import Ending, GameRecord
from evaluation.tournament import play_tournament
from evaluation.tracebacks import causes, last_raised

HERE = Path(__file__).parent
EPISODES = HERE / "episodes"
FILES = sorted((HERE.parent / "submission" / "pitfalls").glob("*.py"))

# In self-play under `env.run` these pitfalls break nothing, or leave nothing behind that could be read.
PLAY_ON = """
    agent-not-last--rebound appended-file blas-threads differs-from-package fails-restricted foreign-package
    full-column--seldom hidden-fallback hidden-fallback--absolute memory-hungry needs-environment needs-files
    needs-files--in-memory needs-memory needs-network nondeterministic obsolete-timeout other-configurations
    other-python overage-used prints prints-cut slow-first-move slow-load slow-on-half starts-threads
    state-between-games state-between-games--raises status-invalid uses-network
""".split()  # noqa: SIM905
LEAVE_NOTHING = """
    never-returns never-returns--at-load out-of-memory process-dies process-dies--at-load process-dies--crash
""".split()  # noqa: SIM905
FAIL = [path for path in FILES if path.stem not in (*PLAY_ON, *LEAVE_NOTHING)]
# What Kaggle shows of these is the same for several pitfalls: theirs is among those named, not the first.
AMBIGUOUS = """
    agent-not-last--class appended-file--new-helper class-chosen column-out-of-range--negative exits
    exits--at-load exits--interrupt generator-or-coroutine generator-or-coroutine--async main-guard--agent
    obsolete-timeout--times-out returns-float returns-numpy--float returns-wrong-type
    returns-wrong-type--fraction returns-wrong-type--lambda returns-wrong-type--list
    returns-wrong-type--string times-out wrong-argument-count--method
""".split()  # noqa: SIM905
PATIENCE = 900
"""Seconds for all episodes together: a busy machine takes several times the two minutes of an idle one."""
TIMES = ["overage-used", "slow-first-move", "slow-load"]

needs_fork = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="files are played in forks, which Windows lacks"
)


def param(path, slow):
    """A file as the parameter of a test, slow or not."""
    return pytest.param(path, id=path.stem, marks=[pytest.mark.slow] if slow else [])


def played(how, paths):
    """Episodes of files against themselves, by their names."""
    command = [sys.executable, str(HERE / "play_episodes.py"), how, *map(str, paths)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        try:
            lines, errors = process.communicate(timeout=PATIENCE)
        finally:
            with suppress(ProcessLookupError):  # its servers, too
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, errors[-2000:]
    return {episode["name"]: episode for episode in map(json.loads, lines.splitlines())}


@pytest.fixture(scope="module")
def episodes(request):
    """The episodes of the files that the tests ask for, under `env.run`."""
    here = [item for item in request.session.items if "episodes" in getattr(item, "fixturenames", ())]
    return played("run", sorted({item.callspec.params["path"] for item in here}))


@pytest.fixture
def explain(tmp_path):
    """Explains values and texts, each as a file of the name given."""

    def run(**files):
        paths = []
        for name, value in files.items():
            paths.append(tmp_path / f"{name}.json")
            text = value if isinstance(value, str) else json.dumps(value)
            paths[-1].write_text(text, encoding="utf-8", errors="surrogatepass")
        [found] = explanations(paths, pytest.fail)
        assert "".join(found.evidence).isprintable()
        return found

    return run


def ids(explanation):
    return [candidate.id for candidate in explanation.candidates]


def shown(explanation):
    console = Console(width=200, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    with console.file:
        console.print(explanation)
    return console.export_text()


def check_named(found, path):
    """The explanation names the pitfall of a file: first, or for the ambiguous ones somewhere."""
    name = path.stem.partition("--")[0]
    assert found.failed
    assert name in ids(found), (found.happened, ids(found))
    if path.stem not in AMBIGUOUS:
        assert ids(found)[0] == name, (found.happened, ids(found))
    assert CONFIRM in found.confirm
    assert f". {name}  {PITFALLS[name].what}\n" in shown(found)


@needs_fork
@pytest.mark.parametrize("path", [param(path, "--" in path.stem) for path in FAIL])
def test_the_pitfall_of_a_failed_episode_is_named(path, episodes, explain):
    episode = episodes[path.stem]
    check_named(explain(replay=episode["environment"], log=episode["logs"]), path)
    check_named(explain(both={"environment": episode["environment"], "logs": episode["logs"]}), path)
    alone = explain(replay=episode["environment"])
    assert alone.failed
    assert alone.candidates
    assert "kaggle competitions logs EPISODE 0" in alone.confirm
    if written := "".join(call["stderr"] for call in episode["logs"][-1] if call):
        check_named(explain(log=episode["logs"]), path)
        check_named(explain(copied=written), path)
    if episode["broken"]:
        assert path.stem.partition("--")[0] in ids(explain(copied=episode["broken"]))


@needs_fork
@pytest.mark.parametrize(
    "path",
    [
        param(path, path.stem not in ("prints", "slow-first-move"))
        for path in FILES
        if path.stem in PLAY_ON and path.stem != "slow-on-half"
    ],
)
def test_an_episode_that_was_played_to_its_end_has_nothing_to_explain(path, episodes, explain):
    episode = episodes[path.stem]
    found = explain(replay=episode["environment"], log=episode["logs"])
    assert not found.failed
    assert found.happened.startswith("Nothing failed here: ")
    assert found.confirm == ""
    assert set(ids(found)) <= set(TIMES)
    if path.stem == "slow-first-move":
        assert "slow-first-move" in ids(found)
    if path.stem == "prints":
        assert ids(found) == []


SERVED = [path for path in FILES if path in FAIL or path.stem in ("never-returns", "process-dies", "prints")]
SERVED += [path for path in FILES if path.stem.startswith("process-dies--")]
# Asked over HTTP these answer None, or not at all, and None is column 0.
SERVED_AMBIGUOUS = ["returns-numpy", "returns-numpy--array", "returns-numpy--float"]


@needs_fork
@pytest.mark.slow
@pytest.mark.timeout(PATIENCE + 60)
def test_pitfalls_are_named_where_agents_are_asked_over_http(explain):
    for name, episode in played("serve", SERVED).items():
        replay = episode["environment"]
        logs = {f"agent-{seat}-log": text for seat, text in enumerate(episode["agent_logs"]) if text}
        found = explain(replay=replay, **logs)
        pitfall = name.partition("--")[0]
        if replay["statuses"] == ["DONE", "DONE"]:
            assert name == "prints"
            assert not found.failed
            continue
        assert pitfall in ids(found), (name, found.happened, found.evidence, ids(found))
        if name not in (*AMBIGUOUS, *SERVED_AMBIGUOUS) or pitfall in ("exits", "process-dies"):
            assert ids(found)[0] == pitfall, (name, found.happened, ids(found))


def test_ambiguous_files_are_there():
    stems = {path.stem for path in FILES}
    assert stems >= {*PLAY_ON, *LEAVE_NOTHING, *AMBIGUOUS}


# Downloaded episodes


@pytest.mark.parametrize(
    ("number", "first", "happened"),
    [
        (
            "70000001",
            "dunder-file",
            "Step 1, call 1 of agent 0 (Nine Lives), who moved first: ERROR, it raised an exception "
            "while its file was loaded.",
        ),
        (
            "70000002",
            "returns-none",
            "Step 7, call 4 of agent 0 (Nine Lives), who moved first: INVALID, it played column 0, "
            "which was full.",
        ),
        (
            "70000003",
            "process-dies",
            "Step 7, call 4 of agent 0 (Nine Lives), who moved first: INVALID, it played column 0, "
            "which was full.",
        ),
    ],
)
def test_a_downloaded_episode_with_its_log(number, first, happened):
    names = [f"episode-{number}-replay.json", f"episode-{number}-agent-0-logs.json"]
    [found] = explanations(EPISODES / name for name in names)
    assert (found.name, found.failed, found.happened) == (number, True, happened)
    assert ids(found)[0] == first
    assert found.confirm == CONFIRM
    assert explanations(EPISODES / name for name in reversed(names)) == [found]


def test_without_its_log_the_command_that_fetches_it_is_told():
    [found] = explanations([EPISODES / "episode-70000001-replay.json"])
    assert found.evidence == ("A replay does not tell which; the agent's log does.",)
    assert "kaggle competitions logs 70000001 0, then explain the replay with the log" in found.confirm


def test_the_log_of_the_other_agent_does_not_mislead(tmp_path):
    other = tmp_path / "episode-70000001-agent-1-logs.json"
    other.write_text(
        json.dumps([[{"duration": 0.1, "stdout": "", "stderr": "NameError: name 'x' is not defined"}]])
    )
    [found] = explanations([EPISODES / "episode-70000001-replay.json", other])
    assert found.evidence[-1] == f"{other.name} is of the other agent."
    assert ids(found)[0] == "dunder-file"


def test_several_games_are_explained_one_by_one(tmp_path):
    assert [found.failed for found in explanations([EPISODES])] == [True, True, True, False]
    log = EPISODES / "episode-70000001-agent-0-logs.json"
    with pytest.raises(InputError, match="4 games and a log: give one game"):
        explanations([EPISODES, log])
    raising = tmp_path / "main.py"
    raising.write_text("def agent(obs, config):\n    return BOOK[obs.step]\n")
    play_tournament([str(raising), "one_step"], games=2, out=tmp_path / "out", trusted=True)
    for found in explanations([tmp_path / "out"]):
        assert ids(found) == ["main-guard", "raises-exception"]
        assert found.evidence == ("NameError: name 'BOOK' is not defined", "line 2: return BOOK[obs.step]")


# Games and logs made for the purpose


def first_legal(obs, config):
    return obs.board[: config.columns].index(0)


def game(answer=None, ply=4, **changed):
    """A record in which seat 0 answers so at a ply, with changes."""

    def agent(obs, config):
        if obs.step == ply:
            return answer() if callable(answer) else answer
        return first_legal(obs, config)

    record = referee.play_game([agent, first_legal])
    return GameRecord(**{**{name: getattr(record, name) for name in record.__dataclass_fields__}, **changed})


FORFEIT = {"rewards": (None, 0), "statuses": ("TIMEOUT", "DONE"), "ending": Ending.TIMEOUT, "culprit": 0}


def late(*seconds):
    """A game that seat 0 loses on time; the seconds are those of its calls."""
    between = [each for own in seconds for each in (own, 0.1)][:-1]
    moves = (0, 1) * (len(seconds) - 1)
    return game(ValueError(), moves=moves, seconds=tuple(between), stderr="", **FORFEIT).to_json()


@pytest.mark.parametrize(
    ("seconds", "first", "among"),
    [
        ((63.0,), "slow-load", "times-out"),
        ((0.5, 62.5), "times-out", "obsolete-timeout"),
        ((22.0, 22.0, 23.0), "times-out", "slow-on-half"),
    ],
)
def test_lateness(seconds, first, among, explain):
    found = explain(record=late(*seconds))
    assert ids(found)[0] == first
    assert among in ids(found)
    assert "never-returns" not in ids(found)
    assert f"The call took {seconds[-1]:.2f} s; actTimeout is 2 s." in found.evidence
    log = explain(log=[[{"duration": each, "stdout": "", "stderr": ""}] for each in seconds])
    assert log.happened == "The overage time was used up: a TIMEOUT."
    assert ids(log)[0] == first


def test_a_call_that_never_ended(explain):
    found = explain(record=late(0.1, 70.0), agent_0=[[{"duration": 0.1, "stdout": "", "stderr": ""}]])
    assert ids(found)[0] == "never-returns"
    assert "The log does not hold this call: it never ended." in found.evidence


def test_invalid_answers(explain):
    assert ids(explain(record=game(9).to_json())) == ["column-out-of-range"]
    assert "returns-float" in ids(explain(record=game(9.0).to_json()))
    assert ids(explain(record=game("3").to_json()))[:3] == [
        "returns-numpy",
        "returns-float",
        "returns-wrong-type",
    ]
    assert "class-chosen" in ids(explain(record=game("3", ply=0).to_json()))
    assert "class-chosen" not in ids(explain(record=game("3").to_json()))


def test_the_second_player_and_discs_set_up_before(explain):
    def centre(obs, config):
        return 3

    record = referee.play_game([first_legal, centre], {"rows": 4, "inarow": 5}, opening=[6, 6, 6])
    found = explain(record=record.to_json())
    assert found.happened == (
        "Step 12, call 5 of agent 1, who moved second: INVALID, it played column 3, which was full."
    )
    assert found.evidence == ("It played column 3 at every move.",)
    assert ids(found)[0] == "full-column"


@pytest.mark.parametrize(
    ("answer", "first"),
    [(lambda: 3.0, "returns-float"), (lambda: (yield), "generator-or-coroutine"), (sys.exit, "exits")],
)
def test_what_breaks_the_run(answer, first, explain):
    record = game(answer)
    assert record.ending is Ending.CRASH
    found = explain(record=record.to_json())
    assert "did what breaks Kaggle's run" in found.happened
    assert ids(found)[0] == first


@pytest.mark.parametrize(
    ("ending", "names"),
    [
        (Ending.MEMORY, ["out-of-memory"]),
        (Ending.EXIT, ["process-dies", "exits"]),
        (Ending.SIGNAL, ["process-dies"]),
        (Ending.OUTPUT, ["prints-cut"]),
        (Ending.PROCESSES, ["starts-threads"]),
        (Ending.CHANNEL, []),
    ],
)
def test_endings_of_isolated_agents(ending, names, explain):
    record = game(ValueError(), ending=ending, stderr="")
    found = explain(record=record.to_json())
    assert (found.failed, ids(found)) == (True, names)


TRACEBACK = """Traceback (most recent call last):
  File "/usr/local/lib/python3.11/site-packages/kaggle_environments/agent.py", line 57, in get_last_callable
    exec(code_object, env)
  File "/kaggle_simulations/agent/main.py", line 13, in <module>
    {source}
{last}"""
CALL = '{"duration": 0.1, "stdout": "", "stderr": ""}'


@pytest.mark.parametrize(
    ("log", "first", "happened"),
    [
        ("[]", "exits", "The log is empty: no call has ended."),
        ("[", "process-dies", "The log breaks off after 0 calls."),
        (f"[[{CALL}],\n ", "process-dies", "The log breaks off after 1 calls."),
        (f"[[{CALL[:40]}", "process-dies", "The log breaks off after 0 calls."),
        (
            '[[{"duration": 0.1, "stdout": "", "stderr": "Traceback (most recent call last):\\n'
            '  File \\"a.py\\", line 3, in <module>\\n    import torch\\nModuleNotFoundError: No module\\n',
            "import-inside-agent",
            "An exception was raised in a move.",
        ),
        (
            CALL[:-3] + json.dumps(TRACEBACK.format(source="x = [0] * 10**12", last="MemoryError")) + "}",
            "out-of-memory",
            "An exception was raised while the file was loaded, at call 1.",
        ),
    ],
)
def test_logs_alone(log, first, happened, explain):
    found = explain(log=log)
    assert (found.failed, found.happened, ids(found)[0]) == (True, happened, first)


@pytest.mark.parametrize(
    "written", ["thinking\n", 'Traceback (most recent call last):\n  File "a", line 1, in b\nKeyError: 2\n']
)
def test_a_log_that_shows_nothing(written, explain):
    calls = [[{"duration": each, "stdout": "", "stderr": written}] for each in (3.5, 1.0, 9.5)]
    found = explain(log=calls)
    assert not found.failed
    assert ids(found)[:4] == ["slow-load", "slow-first-move", "overage-used", "returns-numpy"]
    assert "They used 9.0 s of the overage time." in found.evidence
    assert "kaggle competitions replay EPISODE" in found.confirm


@pytest.mark.parametrize(
    ("source", "last", "names"),
    [
        ("import x", "ModuleNotFoundError: No module named 'x'", ["module-not-found", "foreign-package"]),
        ("from helpers import go", "", ["module-not-found"]),
        ("MODEL = open('model.bin')", "  Fi", ["relative-open"]),
        ("get('https://x')", "requests.exceptions.ConnectionError: HTTPSConnectionPool", ["needs-network"]),
        ("get('https://x')", "urllib.error.URLError: <urlopen error [Errno -3]>", ["needs-network"]),
        ("open('/cache', 'w')", "PermissionError: [Errno 13] Permission denied: '/cache'", ["needs-files"]),
        ("open('/a/b')", "FileNotFoundError: [Errno 2] No such file or directory: '/a/b'", []),
        ("assert isfile(path), path", "AssertionError: /kaggle_simulations/agent/gemma/py", []),
        ("from typing import X", "ImportError: cannot import name 'X'", ["other-python", "module-not-found"]),
        ("x = [0] * 10**12", "MemoryError", ["out-of-memory"]),
    ],
)
def test_tracebacks_of_loading(source, last, names, explain):
    text = TRACEBACK.format(source=source, last=last)
    assert ids(explain(copied=text)) == [*names, "load-error"]
    for margin in ("    ", "\t"):
        assert ids(explain(copied="\n".join(margin + line for line in text.splitlines()))) == [
            *names,
            "load-error",
        ]
    assert ids(explain(copied='"stderr": ' + json.dumps(text))) == [*names, "load-error"]


def test_an_environment_variable_that_is_not_there(explain):
    text = TRACEBACK.format(
        source='os.environ["HOME"]',
        last="  File \"<frozen os>\", line 679, in __getitem__\nKeyError: 'HOME'",
    )
    assert ids(explain(copied=text))[0] == "needs-environment"


WRAPPED = """Invalid raw Python: NameError("name '__file__' is not defined")"""


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("NameError: name '__file__' is not defined", "dunder-file"),
        ("NameError: name 'get_ipython' is not defined", "notebook-magic"),
        ("TypeError: agent() takes 0 positional arguments but 2 were given", "wrong-argument-count"),
        ("TypeError: Board() takes no arguments", "agent-not-last"),
        ("kaggle_environments.errors.InvalidArgument: " + WRAPPED, "dunder-file"),
        ("kaggle_environments.errors.DeadlineExceeded", "times-out"),
        ("KeyboardInterrupt", "exits"),
    ],
)
def test_a_single_line_is_enough(line, first, explain):
    assert ids(explain(copied=f"Validation failed.\n{line}\n"))[0] == first
    assert causes(last_raised(line))[0] == first


def test_what_a_traceback_holds_is_made_harmless(explain):
    text = TRACEBACK.format(source="boom\x1b[2J\u202e", last="ValueError: \x1b]0;owned\x07" + "x" * 10_000)
    found = explain(copied=text)
    assert found.evidence[0].startswith(r"ValueError: \x1b]0;owned\x07xxx")
    assert len(found.evidence[0]) < 400
    assert found.evidence[1] == r"line 13: boom\x1b[2J\u202e"


# The command

RUNNER = CliRunner()


def test_the_command_prints_what_there_is_to_do():
    files = [str(EPISODES / f"episode-70000001-{what}.json") for what in ("replay", "agent-0-logs")]
    done = RUNNER.invoke(app, ["explain", *files])
    assert done.exit_code == 0
    assert done.stdout.splitlines()[:3] == [
        "✗ 70000001",
        "  Step 1, call 1 of agent 0 (Nine Lives), who moved first: ERROR, it raised an exception "
        "while its file was loaded.",
        "    NameError: name '__file__' is not defined",
    ]
    assert f"  1. dunder-file  {PITFALLS['dunder-file'].what}" in done.stdout
    assert f"     → {PITFALLS['dunder-file'].remedy}" in done.stdout
    assert done.stdout.splitlines()[-1] == "  To be sure: python -m submission check main.py"


def test_the_command_prints_json():
    file = EPISODES / "episode-70000004-replay.json"
    done = RUNNER.invoke(app, ["explain", str(file), "--json"])
    assert done.stdout == to_json(explanations([file])) + "\n"
    [found] = json.loads(done.stdout)
    assert found["failed"] is False
    assert found["happened"] == "Nothing failed here: agent 0 (Nine Lives) won after 19 moves."


def test_the_command_reads_standard_input_and_counts_games():
    done = RUNNER.invoke(app, ["explain", "-"], input="NameError: name '__file__' is not defined\n")
    assert "standard input" in done.stdout
    assert "1. dunder-file" in done.stdout
    done = RUNNER.invoke(app, ["explain", "-"], input=(EPISODES / "episode-70000004-replay.json").read_text())
    assert "Nothing failed here" in done.stdout
    done = RUNNER.invoke(app, ["explain", str(EPISODES)])
    assert done.stdout.splitlines()[-1] == "4 games, 3 failed"
    assert "70000004" not in done.stdout


def test_bad_input_is_one_line(tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("it lost\n")
    command = [sys.executable, "-m", "evaluation", "explain", str(notes)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE.parents[1], check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "not JSON (Expecting value: line 1 column 1 (char 0)); what is read: " in done.stderr
    assert done.stderr.endswith("env.toJSON(), the log of an agent, a traceback\n")
    with pytest.raises(InputError, match=r"cannot read .*none: No such file"):
        explanations([tmp_path / "none"])
    with pytest.raises(InputError, match="holds no finished game"):
        explanations([tmp_path])


PIECES = [
    *TRACEBACK.splitlines(),
    *("KeyError: 'x'", '  File "a", line 1', "Traceback (most recent call last):"),
    *("[[{", '"duration": 1', "[", "}]", CALL),
]
LINES = st.sampled_from(PIECES) | st.text(max_size=20)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.lists(LINES, max_size=8).map("\n".join) | st.binary(max_size=60))
def test_any_text_is_explained_or_refused(text, tmp_path):
    path = tmp_path / "text"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    try:
        found = explanations([path])
    except InputError as error:
        assert "\n" not in str(error)  # noqa: PT017
        return
    assert "".join(line for each in found for line in (each.happened, *each.evidence)).isprintable()
