"""Where games are played: processes and a real local cluster whose workers are killed."""

import multiprocessing
import os
import platform
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import evaluation.workers
from engine.board import BoardError
from evaluation import play_tournament
from evaluation.archive import read_games
from evaluation.errors import InputError
from evaluation.records import Ending, GameRecord
from evaluation.referee import configuration
from evaluation.workers import Here, Player, Task, WorkerError, Workers, generators_kept, play_all, workers

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="kills of POSIX")
ROOT = Path(__file__).parents[2]
PLAYER = Player("fast", configuration())
MODULE = """
import os
def leftmost(obs, config):
    return obs.board[: config.columns].index(0)
def killer(obs, config):
    if obs.board.count(0) == 42:
        os._exit(3)
    return leftmost(obs, config)
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module whose functions are trusted agents that other processes find."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "trusted_agents.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(folder))
    import trusted_agents

    yield trusted_agents
    del sys.modules["trusted_agents"]


def tasks(count, agent="random_legal"):
    return [Task(number, (agent, agent), number, ()) for number in range(count)]


class Thread(Workers):
    """Another thread of this process."""

    def __init__(self):
        self.executor = ThreadPoolExecutor(1)

    def count(self):
        return 4

    def renew(self):
        raise AssertionError

    def close(self):
        self.executor.shutdown()


def moves(place, count=40):
    with generators_kept():
        return {task.key: game.moves for task, game in play_all(PLAYER, tasks(count), place)}


def test_every_executor_plays_the_same_games():
    thread = Thread()
    expected = moves(Here())
    assert len(expected) == 40
    assert moves(thread) == expected
    thread.close()


def test_tasks_are_read_as_they_are_needed():
    read = []

    def endless():
        while True:
            read.extend(tasks(1))
            yield read[-1]

    with generators_kept():
        played = play_all(PLAYER, endless(), Here())
        for _ in range(5):
            next(played)
        played.close()
    assert len(read) <= 6


def test_a_game_that_kills_its_workers_is_given_up_and_no_other(module):
    count, kills = 5, {0}
    agents = [module.killer if number in kills else "random_legal" for number in range(count)]
    games = [Task(number, (agent, "random_legal"), number, ()) for number, agent in enumerate(agents)]
    with workers(2) as place:
        outcomes = {task.key: outcome for task, outcome in play_all(PLAYER, games, place)}
    assert sorted(outcomes) == list(range(count))
    lost = {number for number, outcome in outcomes.items() if isinstance(outcome, WorkerError)}
    assert lost == kills
    assert "has ended, 3 times in the same game" in str(outcomes[0])
    assert all(isinstance(outcomes[number], GameRecord) for number in set(outcomes) - kills)


def test_a_tournament_records_such_a_game_and_goes_on(module, tmp_path):
    result = play_tournament(
        [module.leftmost, module.killer, "random_legal"],
        games=1, jobs=2, out=tmp_path, opening_plies=0,
    )  # fmt: skip
    endings = {str(game.id): game.record.ending for game in read_games(tmp_path)}
    assert len(endings) == 3
    assert endings["1-2-0"] is Ending.ABORTED
    assert endings["0-2-0"] is not Ending.ABORTED
    assert result.aborted == 1


def test_what_isolation_lacks_is_told_once_with_the_machine(tmp_path, monkeypatch):
    agent = tmp_path / "mine.py"
    agent.write_text("def agent(obs, config):\n    return 3\n")
    monkeypatch.setattr(evaluation.workers, "shortfall", lambda: "it lacks something")
    games = [Task(number, (str(agent), "random_legal"), number, ()) for number in range(3)]
    for player, expected in (
        (PLAYER, [f"on {platform.node()}: it lacks something"]),
        (Player("fast", configuration(), trusted=True), []),
    ):
        told = []
        with generators_kept():
            assert len(list(play_all(player, games, Here(), told.append))) == 3
        assert told == expected


@POSIX
def test_processes_killed_while_they_start_cost_nothing():
    expected = moves(Here(), 10)
    with workers(2) as place, generators_kept():
        found = {}
        for task, game in play_all(PLAYER, killing(tasks(10)), place):
            found[task.key] = game.moves
    assert found == expected


def killing(games):
    """Kills what has been started when the first games have been sent, and once more."""
    for game in games:
        if game.key in (1, 2):
            for process in multiprocessing.active_children():
                os.kill(process.pid, signal.SIGKILL)
        yield game


@pytest.mark.slow
def test_processes_that_never_start_are_told(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from evaluation import play_match\nplay_match('random_legal', 'one_step', jobs=2)\n"
    )
    command = [sys.executable, str(script)]
    answer = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert answer.returncode == 1
    assert "no process could be started" in answer.stderr


def test_an_error_of_our_own_is_raised():
    broken = Task(0, ("random_legal", "random_legal"), 0, (9,))
    with pytest.raises(BoardError), generators_kept():
        list(play_all(PLAYER, [broken], Here()))


def test_processes_do_not_compete_with_threads_of_numpy(monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    with workers(2) as place:
        assert place.executor.submit(os.getenv, "OPENBLAS_NUM_THREADS").result() == "1"
    assert "OPENBLAS_NUM_THREADS" not in os.environ


@pytest.fixture(scope="module")
def cluster():
    """A scheduler and two worker processes on this machine."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=None,
        silence_logs="CRITICAL",
    ) as local:
        yield local.scheduler_address


@POSIX
@pytest.mark.filterwarnings("default")
def test_a_cluster_loses_nothing_with_a_worker(cluster, tmp_path):
    import distributed

    pool = ["random_legal", "one_step", "kaggle:random"]
    play_tournament(pool, games=30, out=tmp_path / "here")
    with distributed.Client(cluster, set_as_default=False) as client:
        pids = list(client.run(os.getpid).values())
        assert len(pids) == 2

        def kill(result, now):
            if result.games == 10:
                os.kill(pids[0], signal.SIGKILL)

        result = play_tournament(pool, games=30, out=tmp_path / "there", cluster=cluster, on_game=kill)
        assert pids[0] not in client.run(os.getpid).values()
    assert result.games == 90
    games = [
        {str(game.id): (game.record.moves, game.seed) for game in read_games(tmp_path / place)}
        for place in ("here", "there")
    ]
    assert games[0] == games[1]


def test_a_cluster_that_is_not_there(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(evaluation.workers, "CONNECT_SECONDS", 1)
    with pytest.raises(InputError, match=r"there is no scheduler at tcp://127\.0\.0\.1:9"):
        play_tournament(["random_legal", "one_step"], out=tmp_path, cluster="tcp://127.0.0.1:9")
    with pytest.raises(InputError, match="there is no scheduler at nonsense://"):
        play_tournament(["random_legal", "one_step"], out=tmp_path, cluster="nonsense://")
