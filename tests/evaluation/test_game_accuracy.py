import json
import os
import signal
import subprocess
import sys
import time
from collections import deque
from dataclasses import replace
from itertools import islice

import pytest
from typer.testing import CliRunner

from evaluation import stats
from evaluation.__main__ import app
from evaluation.analysis import Analyst, Tally, analyse
from evaluation.archive import Game, GameId
from evaluation.errors import InputError
from evaluation.game_accuracy import GamesAccuracy, GamesInterrupted, Spread, judge_games
from evaluation.loading import load_agent
from evaluation.openings import tournament_openings
from evaluation.records import Ending
from evaluation.referee import configuration, play_game
from evaluation.replays import RecordedGame

EPISODES = __file__.replace("test_game_accuracy.py", "episodes")
BY_HAND = "4455637"  # see test_analysis: the first mistakes are discs 3 and 4
LONG = [int(digit) - 1 for digit in "2252576253462244"]  # nobody has three in a row to go on with


def accuracy(*arguments):
    return CliRunner().invoke(app, ["accuracy", *map(str, arguments)])


def record(moves, opening="", **settings):
    columns = [int(digit) - 1 for digit in moves]
    rest = deque(columns[len(opening) :])

    def agent(_obs, _config):
        return rest.popleft() if rest else -1

    return play_game([agent] * 2, settings, [int(digit) - 1 for digit in opening])


@pytest.fixture
def by_hand(tmp_path):
    """A file with one record."""
    path = tmp_path / "game.json"
    path.write_text(record(BY_HAND).to_json())
    return path


@pytest.fixture
def folder(tmp_path):
    """A tournament's folder: `mine` and `yours` play the same game with the seats swapped."""
    home = tmp_path / "results"
    home.mkdir()
    game = record(BY_HAND, opening="44")
    lines = [
        Game(GameId(0, 1, 0), ("mine", "yours"), 0, game).to_json(),
        Game(GameId(0, 1, 1), ("yours", "mine"), 0, game).to_json(),
    ]
    (home / "games.jsonl").write_text("".join(line + "\n" for line in lines))
    return home


def test_a_game_is_printed_move_by_move(by_hand):
    answer = accuracy(by_hand)
    assert (answer.exit_code, answer.stderr) == (0, "")
    begin = """\
first player (X) against second player (O): X won after 7 discs

  disc                   column  score  best    at  lost
     1  X first player        4      1     1     4
     2  O second player       4     -1    -1     4
     3  X first player        5     -2     1     4     3  win 1 becomes loss -2, the first mistake of X
     4  O second player       5    -18     2   3 6    20  win 2 becomes loss -18, the first mistake of O
     5  X first player        6     18    18   3 6
     6  O second player       3    -18   -18  1 2 3 4 5 6 7
     7  X first player        7     18    18     7
"""
    squeezed = [" ".join(line.split()) for line in answer.stdout.splitlines()]
    assert squeezed[:10] == [" ".join(line.split()) for line in begin.splitlines()]
    assert "  X first player       4     3           3           3" in answer.stdout
    assert "  O second player      3     2           2          20" in answer.stdout
    assert "  first mistakes, with the score of every column (^ played, * best)" in answer.stdout
    assert "O plays 5: win 2 becomes loss -18" in answer.stdout


def test_every_player_of_a_tournament(folder):
    result = judge_games(folder)
    assert (result.games, list(result.players)) == (2, ["mine", "yours"])
    game = analyse(record(BY_HAND, opening="44"), Analyst())
    for player in result.players.values():
        assert player.tally == game.accuracy()
        assert (player.games, player.complete, player.clean) == (2, 2, 0)
        assert player.first_mistakes == {2: 1, 3: 1}
        assert player.mean_first_mistake == 2.5
        assert player.by_phase["begin"] == game.accuracy()
    assert [mistake.where for mistake in result.worst] == ["yours, game 0-1-0", "mine, game 0-1-1"]
    text = str(result)
    assert text.startswith("accuracy of 2 players in 2 games\n")
    assert "  mine       2      5    60.0" in text
    assert "0 of 2      2.5 discs" in text
    assert "  games ended by  line 2" in text
    assert "<table>" in result._repr_html_()


def write(folder, games):
    """The games of a tournament of two."""
    folder.mkdir(exist_ok=True)
    lines = [Game(GameId(0, 1, n), ("mine", "yours"), 0, game).to_json() for n, game in enumerate(games)]
    (folder / "games.jsonl").write_text("".join(line + "\n" for line in lines))


def test_a_second_run_solves_nothing(tmp_path, monkeypatch):
    write(tmp_path, [play_game([load_agent("one_step")] * 2, {}, LONG)])
    first = str(judge_games(tmp_path))
    kept = (tmp_path / "analysis.jsonl").read_bytes()
    assert kept

    def solve(*_arguments, **_options):
        raise AssertionError("solved again")

    monkeypatch.setattr("engine.native.solver.NativeSolver.column_scores", solve)
    assert str(judge_games(tmp_path)) == first
    assert (tmp_path / "analysis.jsonl").read_bytes() == kept


def test_json_has_every_move(folder):
    told = json.loads(accuracy(folder, "--json").stdout)
    assert told["endings"] == {"line": 2}
    assert told["players"]["mine"]["moves"] == 5
    assert told["players"]["mine"]["best"] == 0.6
    one, two = told["games"]
    assert (one["name"], one["players"], one["opening"]) == ("0-1-0", ["mine", "yours"], [3, 3])
    assert [move["lost"] for move in two["moves"]] == [3, 20, 0, 0, 0]
    assert one["first_mistakes"][1] == {
        "ply": 3,
        "column": 4,
        "scores": [-18, -18, 2, -18, -18, 2, -18],
        "lost": 20,
        "keeps_value": False,
        "swing": "win 2 becomes loss -18",
    }


def test_kaggles_episodes():
    result = judge_games(EPISODES, keep=True)
    assert result.games == len(result.kept) >= 4
    assert sum(player.games for player in result.players.values()) == 2 * result.games


def test_a_player_against_itself_is_one_player():
    result = GamesAccuracy("", 1.0)
    game = RecordedGame("g", ("me", "me"), record(BY_HAND))
    result.add(game, analyse(game.record, Analyst()))
    assert list(result.players) == ["me"]
    assert (result.players["me"].games, result.players["me"].tally.moves) == (2, 7)


def test_a_forfeit_is_told_and_its_moves_are_judged():
    forfeit = record("444")  # O has no answer any more
    result = GamesAccuracy("", 1.0)
    result.add(RecordedGame("g", ("a", "b"), forfeit), analyse(forfeit, Analyst()))
    assert result.title == "a (X) against b (O): O forfeited after 3 discs (invalid)"
    assert result.players["b"].tally == Tally(1, 1, 1, 0)


def test_games_that_were_drawn_or_broken_off():
    full = play_game([load_agent("one_step")] * 2, {"rows": 2, "columns": 2, "inarow": 3})
    broken = replace(full, ending=Ending.ABORTED)
    for game, text in ((full, "a draw after 4 discs"), (broken, "broken off after 4 discs")):
        result = GamesAccuracy("", 1.0)
        result.add(RecordedGame("g", ("a", "b"), game), analyse(game, Analyst(2, 2, 3)))
        assert result.title.endswith(text)
        assert "first mistakes" not in str(result)  # without any there are no boards


def test_moves_that_could_not_be_judged_are_told(tmp_path):
    path = tmp_path / "large.json"
    path.write_text(play_game([load_agent("random_legal")] * 2, {"rows": 11, "columns": 11}).to_json())
    answer = accuracy(path)
    assert answer.exit_code == 0
    assert "boards of 11x11, inarow 4, are too large to be solved" in answer.stderr
    moves = len(json.loads(path.read_text())["moves"])
    assert f"  not judged      {moves} of {moves} moves: not solved within 10 s" in answer.stdout
    told = json.loads(accuracy(path, "--json").stdout)
    assert told["players"]["first player"]["moves"] == 0


def test_jobs_change_nothing(tmp_path):
    agents = [load_agent("one_step"), load_agent("random_legal")]
    write(tmp_path, [play_game(agents, {}, LONG) for _ in range(3)])
    divided = str(judge_games(tmp_path, jobs=2))
    (tmp_path / "analysis.jsonl").unlink()
    assert str(judge_games(tmp_path)) == divided


@pytest.mark.parametrize("content", ["", "{}", "[]", "nonsense"])
def test_what_holds_no_games(tmp_path, content):
    path = tmp_path / "file.json"
    path.write_text(content)
    with pytest.raises(InputError):
        judge_games(path)


def test_intervals_know_that_moves_of_a_game_belong_together():
    alike, mixed = Spread(), Spread()
    for _ in range(20):
        alike.add(10, 10)
        alike.add(10, 0)
        mixed.add(10, 5)
    assert mixed.interval == stats.wilson(0.5, 200)
    assert alike.interval == pytest.approx(stats.wilson(0.5, 40))
    assert Spread().interval == (0.0, 1.0)


def test_ctrl_c_keeps_the_games_judged(folder):
    def stop(result):
        raise KeyboardInterrupt

    with pytest.raises(GamesInterrupted, match="interrupted after 1 games") as stopped:
        judge_games(folder, on_game=stop)
    assert stopped.value.result.games == 1


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
def test_ctrl_c_keeps_what_is_solved(tmp_path):
    openings = islice(tournament_openings(configuration(), 0, 8), 12)  # a second or two each to solve
    games = [play_game([load_agent("one_step")] * 2, {}, moves) for moves, _ in openings]
    write(tmp_path, [record(BY_HAND), *games])
    memory = tmp_path / "analysis.jsonl"
    command = [sys.executable, "-m", "evaluation", "accuracy", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and not (memory.exists() and memory.read_bytes().count(b"\n") > 20):
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    kept, stopped = err.splitlines()
    assert kept == f"what was solved is kept in {memory}: the same command goes on"
    assert stopped == "stopped"
    assert "mine" in out
    lines = memory.read_text().splitlines()
    assert len(lines) > 20
    again = Analyst(memory=memory)
    for line in map(json.loads, lines):
        assert list(again._memory.solved[int(line["key"], 16)]) == line["scores"]
