"""Hostile agents: how the games of tests/bad_agents end, and that nothing of them stays."""

import os
import random
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from evaluation import isolation, kaggle, play_match, play_tournament, referee
from evaluation.archive import read_games
from evaluation.errors import InputError
from evaluation.isolation import needs_isolation, open_agent, shortfall
from evaluation.loading import load_agent
from evaluation.records import Ending
from evaluation.referee import play_game

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the full isolation is Linux's")
BAD = Path(__file__).parent.parent / "bad_agents"
GOES_ON = None  # the game is played to its end
ENDINGS = {
    "endless_loop": Ending.TIMEOUT,
    "stops_itself": Ending.TIMEOUT,
    "sleeps_in_import": Ending.TIMEOUT,
    "ignores_signals": Ending.TIMEOUT,
    "forges_its_clock": Ending.TIMEOUT,
    "ten_gigabytes": Ending.MEMORY,
    "fork_bomb": Ending.PROCESSES,
    "forty_children": Ending.PROCESSES,
    "os_exit": Ending.EXIT,
    "replaces_builtins": Ending.EXIT,
    "segfault": Ending.SIGNAL,
    "deep_recursion": Ending.SIGNAL,
    "prints_a_gigabyte": Ending.OUTPUT,
    "writes_a_gigabyte": Ending.OUTPUT,
    "forges_garbage": Ending.CHANNEL,
    "forges_answers": Ending.CHANNEL,
    "forges_nonsense": Ending.CHANNEL,
    "closes_its_channel": Ending.CHANNEL,
    "garbage": Ending.INVALID,
    "huge_text": Ending.INVALID,
    "huge_number": Ending.CRASH,
    "closes_stdout": Ending.CRASH,
    "keyboard_interrupt": Ending.CRASH,
    "system_exit": Ending.CRASH,
    "deletes_its_files": Ending.ERROR,
    "fills_the_disk": Ending.ERROR,
    "daemons": GOES_ON,
    "threads_and_children": GOES_ON,
    "closes_descriptors": GOES_ON,
    "fails_at_exit": GOES_ON,
    "spoils_what_it_is_given": GOES_ON,
    "looks_for_secrets": GOES_ON,
}
NEED_NAMESPACES = {"deletes_its_files", "fills_the_disk", "looks_for_secrets"}


def rightmost(obs, config):
    return max(column for column in range(config.columns) if obs.board[column] == 0)


def left_running():
    """What there is of agents' processes: forks of the server but not itself, and what they have started."""
    server = isolation._server().process.pid
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != server:
            try:
                command = (entry / "cmdline").read_bytes()
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == server or b"987654" in command:
                found.append((entry.name, command))
    return found


def none_left(seconds=5):
    """Whether nothing is left running; the last process may take a moment to leave the table."""
    deadline = time.monotonic() + seconds
    while left_running() and time.monotonic() < deadline:
        time.sleep(0.01)
    return left_running() == []


def impatient(monkeypatch):
    monkeypatch.setattr(referee, "OVERAGE_SECONDS", 0)
    monkeypatch.setattr(isolation, "MARGIN", 0.2)
    return {"actTimeout": 0.3}


def test_every_bad_agent_is_tested():
    assert {path.stem for path in BAD.glob("*.py")} == set(ENDINGS)


@pytest.mark.parametrize(("name", "ending"), ENDINGS.items())
def test_a_bad_agent_ends_its_own_game_and_nothing_else(name, ending, tmp_path, monkeypatch):
    if name in NEED_NAMESPACES and shortfall():
        pytest.skip(f"needs namespaces: {shortfall()}")
    path = shutil.copy(BAD / f"{name}.py", tmp_path)
    (tmp_path / "precious.txt").write_text("kept")
    monkeypatch.setenv("TOKEN", "the-secret")
    settings = impatient(monkeypatch) if ending is Ending.TIMEOUT else {}
    with open_agent(path) as agent:
        record = play_game([agent, rightmost], settings)
    assert none_left()
    if ending is GOES_ON:
        assert not record.ending.is_forfeit, record.stderr
    else:
        assert (record.ending, record.culprit) == (ending, 0), record.stderr
        assert record.rewards == (None, 0)
        kaggles = (Ending.INVALID, Ending.ERROR, Ending.TIMEOUT)
        assert record.statuses == (ending.name if ending in kaggles else "ERROR", "DONE")
        assert record.points(1) == 1.0
    assert type(record).from_json(record.to_json()) == record
    assert record.steps
    assert sorted(os.listdir(tmp_path)) == sorted([f"{name}.py", "precious.txt"])


def test_the_server_survives_them_all():
    server = isolation._server()
    with open_agent(str(BAD / "segfault.py")) as agent:
        play_game([agent, rightmost])
    assert isolation._server() is server
    server.process.kill()
    server.process.wait()
    with open_agent(str(BAD / "garbage.py")) as agent:
        assert play_game([agent, rightmost]).ending is Ending.INVALID


def test_a_tournament_goes_on(tmp_path):
    names = ["os_exit", "segfault", "ten_gigabytes", "garbage"]
    agents = ["random_legal", *(str(BAD / f"{name}.py") for name in names)]
    play_tournament(agents, games=2, jobs=2, gauntlet=True, out=tmp_path, opening_plies=0)
    games = list(read_games(tmp_path))
    assert len(games) == 2 * len(names)
    for game in games:
        bad = next(name for name in game.agents if name != "random_legal")
        assert game.record.ending is ENDINGS[Path(bad).stem]
        assert game.agents[game.record.culprit] == bad
    assert none_left()


def test_killing_the_runner_ends_all_agents():
    code = (
        "import sys; from evaluation import isolation\n"
        f"with isolation.open_agent({str(BAD / 'threads_and_children.py')!r}) as agent:\n"
        "    agent(dict(board=[0]*42, step=0, mark=1, remainingOverageTime=60),\n"
        "          dict(columns=7, rows=6, inarow=4, actTimeout=2))\n"
        "    print(isolation._server().process.pid, flush=True)\n"
        "    sys.stdin.read()\n"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], **pipes, cwd=BAD.parent.parent) as runner:
        server = int(runner.stdout.readline())
        deadline = time.monotonic() + 5
        while not left_running() and time.monotonic() < deadline:  # a program's name comes after its start
            time.sleep(0.01)
        assert left_running()
        runner.kill()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{server}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not Path(f"/proc/{server}").exists()
    assert none_left()


@pytest.mark.parametrize("name", ["os_exit", "keyboard_interrupt", "garbage", "ten_gigabytes"])
def test_kaggles_referee_comes_to_the_same_ending(name):
    pytest.importorskip("kaggle_environments")
    with open_agent(str(BAD / f"{name}.py")) as agent:
        record = kaggle.play_game([agent, rightmost])
    assert record.ending is ENDINGS[name]
    assert record.culprit == 0
    assert record.steps


def without_times(record):
    return replace(record, seconds=(), stderr="" if record.ending is Ending.CRASH else record.stderr)


DRAWS = """
import random, sys
def agent(obs, config):
    print("thinking", obs.step, file=sys.stderr)
    legal = [column for column in range(config.columns) if obs.board[column] == 0]
    return random.Random(str(obs.board)).choice(legal)
"""


def test_isolated_games_are_those_in_process(tmp_path):
    path = tmp_path / "draws.py"
    path.write_text(DRAWS)
    rng = random.Random(0)
    for _ in range(40):
        settings = {"rows": rng.randint(1, 8), "columns": rng.randint(1, 8), "inarow": rng.randint(2, 5)}
        with open_agent(str(path)) as one, open_agent(str(path)) as two:
            record = play_game([one, two], settings)
        trusted = play_game([load_agent(str(path)), load_agent(str(path))], settings)
        assert without_times(record) == without_times(trusted)
        assert len(record.seconds) == len(record.moves)


ANSWERS = [
    "None", "-1", "3.5", "3.0", "float('nan')", "float('inf')", "True", "'3'", "[3]", "{}", "object()",
    "7", "10**30", "-(10**30)", "10**5000", "1j", "b'3'", "(x for x in ())", "RuntimeError('returned')",
    "np.int64(3)", "np.float64(3.5)", "np.float64(3.0)", "np.array([3])", "lambda: 3",
    "type('Whole', (int,), {})(3)", "1 / 0", "sys.exit(3)", "undefined", "exec('raise GeneratorExit')",
]  # fmt: skip


@pytest.mark.parametrize("answer", ANSWERS)
def test_answers_and_exceptions_are_judged_alike(answer, tmp_path):
    path = tmp_path / "answers.py"
    path.write_text(f"import sys\nimport numpy as np\ndef agent(obs, config):\n    return {answer}\n")
    for seat in (0, 1):
        with open_agent(str(path)) as agent:
            record = play_game([agent, rightmost][:: -1 if seat else 1])
        trusted = play_game([load_agent(str(path)), rightmost][:: -1 if seat else 1])
        assert without_times(record) == without_times(trusted)


def test_a_file_is_loaded_lazily_with_constants_and_its_folder(tmp_path):
    (tmp_path / "beside.py").write_text("COLUMN = 5")
    path = tmp_path / "main.py"
    path.write_text(
        "import beside\nDEPTH = 1\ndef agent(obs, config):\n    return beside.COLUMN - DEPTH\n"
        "def chosen_last(obs, config):\n    return agent(obs, config)\n"
    )
    with open_agent(f"{path}:DEPTH=3") as agent:
        assert play_game([agent, rightmost], opening=()).moves[0] == 2
    path.write_text("this is no python")
    with open_agent(str(path)) as agent:
        record = play_game([agent, rightmost])
    assert record.ending is Ending.ERROR
    assert "SyntaxError" in record.stderr
    with pytest.raises(InputError, match="cannot read"), open_agent(str(tmp_path / "none.py")):
        pass


def test_no_state_passes_from_game_to_game(tmp_path):
    path = tmp_path / "main.py"
    path.write_text(
        "import os, sys\ndef agent(obs, config):\n"
        "    assert not hasattr(sys, 'mark') and not os.listdir('.') and 'MARK' not in os.environ\n"
        "    sys.mark = os.environ['MARK'] = 'here'\n    open('mark', 'w').close()\n    os._exit(5)\n"
    )
    for _ in range(2):
        with open_agent(str(path)) as agent:
            assert play_game([agent, rightmost]).ending is Ending.EXIT


def test_random_numbers_follow_from_the_seed(tmp_path):
    path = tmp_path / "main.py"
    path.write_text(
        "import random\nimport numpy as np\ndef agent(obs, config):\n"
        "    c = [c for c in range(7) if obs.board[c] == 0]\n"
        "    return c[(random.randrange(7) + int(np.random.randint(7))) % len(c)]\n"
    )

    def moves(seed):
        return [game.moves for game in play_match(str(path), str(path), 4, seed=seed).records.values()]

    assert moves(1) == moves(1)
    assert moves(1) != moves(2)
    assert len(set(moves(1))) == 4


def test_trusted_files_run_in_this_process(tmp_path, capsys):
    path = tmp_path / "main.py"
    path.write_text("import os\ndef agent(obs, config):\n    return int(os.environ.get('HERE', 9))\n")
    os.environ["HERE"] = "3"
    try:
        assert play_match(str(path), "random_legal", 1, trusted=True).records[0].ending is not Ending.INVALID
        assert play_match(str(path), "random_legal", 1).records[0].ending is Ending.INVALID
    finally:
        del os.environ["HERE"]
    assert needs_isolation(str(path))
    assert not needs_isolation("n_step:N_STEPS=2")
    assert not needs_isolation(rightmost)


def test_the_times_are_the_agents_own(tmp_path):
    path = tmp_path / "main.py"
    path.write_text("import time\ntime.sleep(0.2)\ndef agent(obs, config):\n    return obs.step % 7\n")
    with open_agent(str(path)) as agent:
        record = play_game([agent, rightmost])
    assert record.seconds[0] >= 0.2
    assert min(record.seconds[2::2]) < 0.05


def test_without_namespaces_processes_still_end(tmp_path, monkeypatch):
    """As in a container that forbids them: the guard looks for what is left."""
    child = tmp_path / "isolated_child.py"
    source = isolation.CHILD.read_text().replace("_in_child(_try_namespaces)", "False")
    child.write_text(source)
    shutil.copy(isolation.CHILD.with_name("calling.py"), tmp_path)
    isolation._close_server()
    monkeypatch.setattr(isolation, "CHILD", child)
    try:
        assert shortfall() == (
            "agents' files run in processes of their own, but on this system they can "
            "write files, reach the network and see other processes (no namespaces)"
        )
        for name in ("daemons", "threads_and_children", "os_exit", "forty_children", "segfault"):
            with open_agent(str(BAD / f"{name}.py")) as agent:
                record = play_game([agent, rightmost])
            assert record.ending is ENDINGS[name] or not (ENDINGS[name] or record.ending.is_forfeit)
            assert none_left()
    finally:
        isolation._close_server()


def test_where_there_is_no_fork_it_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(isolation, "AVAILABLE", False)
    path = tmp_path / "main.py"
    path.write_text("def agent(obs, config):\n    return 3\n")
    assert "in this process" in shortfall()
    with open_agent(str(path)) as agent:
        assert play_game([agent, rightmost]).moves[0] == 3
