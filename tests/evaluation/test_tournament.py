"""Tournaments: who plays whom, that results follow from the seed alone, resuming, stopping, kills."""

import json
import multiprocessing
import os
import shlex
import signal
import subprocess
import sys
import time

import pytest

import evaluation
from engine.board import Board
from evaluation import TournamentInterrupted, play_tournament, read_tournament
from evaluation.archive import read_games
from evaluation.errors import InputError
from evaluation.openings import balance
from evaluation.records import Ending
from evaluation.referee import configuration

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="kills of POSIX")
POOL = ["random_legal", "one_step", "kaggle:random"]


needs_core = pytest.mark.skipif(
    balance(configuration(rows=5), 8) != "balanced", reason="no native core for exact openings here"
)


def leftmost(obs, config):
    return obs.board[: config.columns].index(0)


def raising(obs, config):
    return 1 // 0


def facts(folder):
    """What does not depend on clocks, by game."""
    return {
        str(game.id): (game.agents, game.seed, game.record.opening, game.record.moves, game.record.ending)
        for game in read_games(folder)
    }


def timeless(result):
    """What a result says, without how long moves took."""
    told = json.loads(result.to_json())
    for agent in told["agents"].values():
        agent.pop("seconds")
    return told


def lines(folder):
    path = folder / "games.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A tournament of `POOL`, played in one go in this process."""
    folder = tmp_path_factory.mktemp("undisturbed")
    return folder, play_tournament(POOL, games=10, out=folder)


def test_every_two_agents_meet_in_reversed_pairs(undisturbed):
    folder, result = undisturbed
    games = {str(game.id): game for game in read_games(folder)}
    assert set(games) == {f"{m}-{n}" for m in ("0-1", "0-2", "1-2") for n in range(10)}
    for name, game in games.items():
        one, two, number = map(int, name.split("-"))
        assert game.agents == ((POOL[two], POOL[one]) if number % 2 else (POOL[one], POOL[two]))
        partner = games[f"{one}-{two}-{number ^ 1}"]
        assert game.record.opening == partner.record.opening
        assert game.seed != partner.seed
    openings = [games[f"0-1-{number}"].record.opening for number in range(0, 10, 2)]
    positions = {min(map(str, (Board.from_moves(o), Board.from_moves(o).mirror()))) for o in openings}
    assert len(positions) == 5
    assert len({game.seed for game in games.values()}) == 30
    assert result.games == 30


def test_a_gauntlet_is_of_the_first_agent(tmp_path):
    result = play_tournament(POOL, games=3, out=tmp_path, gauntlet=True)
    assert sorted(facts(tmp_path)) == [f"0-{other}-{number}" for other in (1, 2) for number in range(3)]
    assert sum(result.total(0)) == 6
    assert "gauntlet of 3 agents, 6 games" in str(result)


def test_workers_change_nothing(undisturbed, tmp_path):
    folder, alone = undisturbed
    many = play_tournament(POOL, games=10, out=tmp_path, jobs=2)
    assert facts(tmp_path) == facts(folder)
    assert timeless(many) == timeless(alone)


def test_it_goes_on_where_it_was_stopped(undisturbed, tmp_path):
    def stop(result, now):
        if now and result.games >= 7:
            raise KeyboardInterrupt

    for games in (7, 8):  # the second stops at once after one more
        with pytest.raises(TournamentInterrupted) as interruption:
            play_tournament(POOL, games=10, out=tmp_path, on_game=stop)
        assert interruption.value.result.games == games
        assert f"stopped after {games} games; all are kept in {tmp_path}" in str(interruption.value)
    first = (tmp_path / "games.jsonl").read_text()
    result = play_tournament(POOL, games=10, out=tmp_path)
    assert (tmp_path / "games.jsonl").read_text().startswith(first)
    assert lines(tmp_path) == 30
    assert facts(tmp_path) == facts(undisturbed[0])
    assert result.games == 30
    said = []
    again = play_tournament(POOL, games=10, out=tmp_path, on_game=lambda _, now: said.append(now))
    assert said == [False]
    assert str(again) == str(result)


@pytest.mark.parametrize("configuration", [{}, {"rows": 4, "columns": 5}])  # known openings, solved ones
@pytest.mark.parametrize("games", [(3, 10), (4, 9)])
def test_more_games_are_as_if_they_had_been_asked_for_at_once(configuration, games, tmp_path):
    grown, whole = tmp_path / "grown", tmp_path / "whole"
    for number in games:
        play_tournament(POOL, games=number, out=grown, configuration=configuration)
    result = play_tournament(POOL, games=games[-1], out=whole, configuration=configuration)
    assert facts(grown) == facts(whole)
    assert timeless(read_tournament(grown)) == timeless(result)
    assert lines(grown) == 3 * games[-1]


def test_results_do_not_depend_on_the_order_in_which_games_ended(tmp_path):
    play_tournament(["one_step", "random_legal"], games=40, out=tmp_path, sprt=(0.5, 0.7))
    path = tmp_path / "games.jsonl"
    result = read_tournament(tmp_path)
    path.write_text("".join(reversed(path.read_text().splitlines(keepends=True))))
    turned = read_tournament(tmp_path)
    assert result.meetings[0, 1].test.verdict == turned.meetings[0, 1].test.verdict == 0.7
    assert [r.to_json()[:200] for r in (turned,)] == [result.to_json()[:200]]
    assert turned.meetings[0, 1].test.llr == result.meetings[0, 1].test.llr
    assert turned.total(0) == result.total(0)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_sequential_test_ends_a_meeting(tmp_path, jobs):
    result = play_tournament(
        ["one_step", "random_legal", "kaggle:random"],
        games=400,
        out=tmp_path,
        sprt=(0.5, 0.7),
        gauntlet=True,
        jobs=jobs,
    )
    for meeting in result.meetings.values():
        assert meeting.test.verdict == 0.7
        assert meeting.played == 2 * sum(meeting.test.counts) < 60
    assert lines(tmp_path) < 800
    if jobs == 1:
        assert lines(tmp_path) == result.games
    assert "score 0.7" in str(result)


def test_a_half_played_pair_is_no_pair_for_the_test(tmp_path):
    result = play_tournament(["one_step", "random_legal"], games=5, out=tmp_path, sprt=(0.5, 0.51))
    assert sum(result.meetings[0, 1].test.counts) == 2
    assert result.meetings[0, 1].test.verdict is None
    assert "none yet" in str(result)


@POSIX
def test_a_killed_worker_costs_nothing(undisturbed, tmp_path):
    killed = []

    def kill(result, now):
        if result.games in (1, 5, 11) and len(killed) < 3:
            worker = multiprocessing.active_children()[0]
            killed.append(worker.pid)
            os.kill(worker.pid, signal.SIGKILL)

    play_tournament(POOL, games=10, out=tmp_path, jobs=2, on_game=kill)
    assert len(killed) == 3
    assert lines(tmp_path) == 30
    assert facts(tmp_path) == facts(undisturbed[0])
    assert multiprocessing.active_children() == []


COMMAND = [sys.executable, "-m", "evaluation", "tournament"]


@POSIX
def test_a_killed_runner_costs_no_finished_game(tmp_path):
    agents = ["n_step", "one_step"]
    reference = tmp_path / "reference"
    play_tournament(agents, games=24, out=reference)
    folder = tmp_path / "killed"
    command = [*COMMAND, *agents, "--games", "24", "--out", str(folder), "--jobs", "2", "--json"]
    before = 0
    for _ in range(2):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while process.poll() is None and lines(folder) < before + 4:
            time.sleep(0.01)
        workers = children(process.pid)
        process.kill()
        process.communicate(timeout=60)
        kept = list(read_games(folder))
        assert len(kept) >= before + 4
        before = len(kept)
        deadline = time.monotonic() + 60
        while any(map(is_running, workers)):
            assert time.monotonic() < deadline, "a worker outlives its runner"
            time.sleep(0.05)
    assert before < 24
    answer = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    assert json.loads(answer.stdout)["games"] == 24
    assert lines(folder) == 24
    assert facts(folder) == facts(reference)


def children(pid):
    """The processes that a process has started (Linux)."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return list(map(int, file.read().split()))
    except FileNotFoundError:
        return []


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@POSIX
def test_ctrl_c_says_how_to_go_on(tmp_path):
    arguments = ["n_step", "one_step", "--games", "2000", "--out", str(tmp_path / "a b"), "--jobs", "2"]
    command = [*COMMAND, *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while process.poll() is None and lines(tmp_path / "a b") < 5:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "round robin of 2 agents" in out
    kept = len(list(read_games(tmp_path / "a b")))
    assert kept >= 5
    assert err == (
        f"stopped after {kept} games; all are kept in {tmp_path / 'a b'}; go on with\n"
        f"  python -m evaluation tournament {shlex.join(arguments)}\n"
        "stopped\n"
    )


def test_a_game_without_a_result_counts_for_nobody(tmp_path):
    def slow(obs, config):
        time.sleep(0.03)
        return leftmost(obs, config)

    result = play_tournament([slow, leftmost], games=4, out=tmp_path, configuration={"runTimeout": 0.02})
    assert [game.record.ending for game in read_games(tmp_path)] == [Ending.ABORTED] * 4
    assert "runTimeout=0.02 was over" in next(read_games(tmp_path)).record.stderr
    assert (result.games, result.aborted, result.total(0)) == (4, 4, (0, 0, 0))
    assert "4 games came to no result" in str(result)
    assert "no ratings" in str(result)
    assert (
        play_tournament([slow, leftmost], games=4, out=tmp_path, configuration={"runTimeout": 0.02}).games
        == 4
    )


def test_forfeits_are_told_with_the_first_error(tmp_path):
    result = play_tournament([leftmost, raising], games=4, out=tmp_path)
    assert result.conduct[1].forfeits == {Ending.ERROR: 4}
    assert "raising: error 4 (game 0-1-0: ZeroDivisionError: integer division or modulo by zero)" in str(
        result
    )
    assert result.total(0) == (4, 0, 0)


def test_by_seat_and_the_cross_table(undisturbed):
    _, result = undisturbed
    for agent in range(3):
        seats = [result.by_seat(agent, other) for other in range(3) if other != agent]
        assert result.by_seat(agent) == tuple(
            tuple(map(sum, zip(*[pair[seat] for pair in seats], strict=True))) for seat in (0, 1)
        )
    assert result.total(0, 1) == result.total(1, 0)[::-1]
    assert result.by_seat(0, 1)[0] == result.by_seat(1, 0)[1][::-1]
    assert result.order[0] == 1
    assert result.distinct_games <= 30


def test_a_result_as_text_and_html(undisturbed):
    folder, result = undisturbed
    text = str(result)
    assert text.startswith("round robin of 3 agents, 30 games\n")
    assert "  1 one_step" in text
    assert "anchor" in text
    assert "balanced, 8 discs" in text
    assert repr(result) == "<TournamentResult round robin of 3 agents, 30 games>"
    assert "<td>1 one_step</td>" in result._repr_html_()
    assert str(read_tournament(folder)) == text


def test_names_are_escaped(tmp_path):
    def named(obs, config):
        return leftmost(obs, config)

    named.__name__ = "<script>"
    html = play_tournament([named, leftmost], games=2, out=tmp_path)._repr_html_()
    assert "&lt;script&gt;" in html
    assert "<script>" not in html


def test_a_board_with_few_openings_is_told(tmp_path):
    result = play_tournament(
        [leftmost, "random_legal"], games=40, out=tmp_path, configuration={"rows": 2, "columns": 2}
    )
    assert result.games == 40
    assert result.distinct_games < 20
    assert "replayed" in str(result)
    facts = result.openings.facts()
    assert facts["distinct"] + facts["repeated"] == 20
    assert facts["drawn"] + facts["lopsided"] + facts["unknown"] == facts["distinct"] < 7
    assert f"{facts['repeated']} pairs repeat one: there are no more" in str(result)


@needs_core
def test_openings_that_are_not_drawn_are_told(tmp_path):
    board = {"rows": 3, "columns": 4, "inarow": 3}  # the first mover wins
    result = play_tournament(
        [leftmost, "random_legal"], games=19, out=tmp_path, configuration=board, opening_plies=2
    )
    assert result.openings.facts() == {
        "distinct": 10, "repeated": 0, "drawn": 0, "lopsided": 7, "unknown": 3, "worst": 2
    }  # fmt: skip
    assert "openings        7 as near to it as there are (exact score up to 2), 3 random, 2 discs" in str(
        result
    )
    assert json.loads(result.to_json())["openings"] == result.openings.facts()
    assert [game.imbalance for game in read_games(tmp_path)][-3:] == [None] * 3
    assert str(read_tournament(tmp_path)) == str(result)


@pytest.mark.parametrize(
    ("agents", "settings", "complaint"),
    [
        (["one_step"], {}, "a tournament needs two agents or more, not 1"),
        (["one_step", "one_step"], {}, "one_step is named twice"),
        (["one_step", "nobody"], {}, "nobody"),
        (POOL, {"games": 0}, "games must be at least 1, not 0"),
        (POOL, {"jobs": 0}, "jobs must be at least 1, not 0"),
        (POOL, {"anchor": "n_step"}, "the anchor n_step does not play: choose one of random_legal, one_step"),
        (POOL, {"sprt": (0.6, 0.5)}, "sprt 0.6 0.5: give two scores between 0 and 1, the lower one first"),
        (POOL, {"referee": "slow"}, "there is no referee 'slow'"),
        (POOL, {"configuration": {"rows": 0}}, "rows=0"),
        (POOL, {"opening_plies": -1}, "opening_plies must be at least 0"),
    ],
)
def test_what_cannot_be_played_is_refused(tmp_path, agents, settings, complaint):
    with pytest.raises(InputError) as error:
        play_tournament(agents, out=tmp_path / "new", **settings)
    assert complaint in str(error.value)
    assert not (tmp_path / "new").exists()


FILE = """
import random

def agent(obs, config):
    return random.choice([column for column in range(7) if not obs.board[column]])
"""


def test_whether_files_were_isolated_is_recorded_and_told(tmp_path):
    agent = tmp_path / "mine.py"
    agent.write_text(FILE)
    agents = [str(agent), "random_legal"]
    trusted = play_tournament(agents, games=2, out=tmp_path / "out", trusted=True)
    assert "isolation       none: agents given as files ran in the processes that played" in str(trusted)
    with pytest.raises(InputError, match="trusted true, not false: choose another"):
        play_tournament(agents, games=2, out=tmp_path / "out")
    assert "isolation" not in str(play_tournament(agents, games=2, out=tmp_path / "isolated"))
    assert facts(tmp_path / "isolated") != facts(tmp_path / "out")
    assert "isolation" not in str(play_tournament(POOL, games=1, out=tmp_path / "kit", trusted=True))
    play_tournament(POOL, games=1, out=tmp_path / "kit")  # no file played: it goes on


def test_the_first_error_and_the_order_of_endings_do_not_depend_on_who_was_first(tmp_path):
    result = play_tournament([leftmost, raising], games=4, out=tmp_path)
    path = tmp_path / "games.jsonl"
    path.write_text("".join(reversed(path.read_text().splitlines(keepends=True))))
    assert str(read_tournament(tmp_path)) == str(result)


def test_another_version_of_an_agent_is_refused(tmp_path):
    agent = tmp_path / "mine.py"
    agent.write_text("def agent(obs, config):\n    return obs.board[: config.columns].index(0)\n")
    play_tournament([str(agent), "random_legal"], games=2, out=tmp_path / "out")
    agent.write_text(agent.read_text() + "\n")
    with pytest.raises(
        InputError, match=r"was played with another version of .*mine\.py: choose another --out"
    ):
        play_tournament([str(agent), "random_legal"], games=2, out=tmp_path / "out")


def test_public_names():
    assert set(evaluation.__all__) == {
        "MatchInterrupted",
        "MatchResult",
        "TournamentInterrupted",
        "TournamentResult",
        "get_win_percentages",
        "play_match",
        "play_tournament",
        "read_tournament",
    }
