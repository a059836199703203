"""The official referee. That its records are those of the fast one is the matter of test_differential.py."""

import json
import random
import re
import subprocess
import sys

import pytest

from engine.board import BoardError
from evaluation import kaggle, referee
from evaluation.errors import InputError
from evaluation.records import Ending, GameRecord


def first_free(obs, config):
    return next(column for column in range(config.columns) if not obs.board[column])


def replay(record):
    """What Kaggle's player finds in the page: the environment as JSON."""
    page = kaggle.render_html(record)
    assert page.lstrip().lower().startswith("<!doctype html")
    return json.loads(re.search(r"window\.kaggle = (\{.*\});</script>", page)[1])


@pytest.mark.parametrize(
    "answer",
    [3, 99, 3.0, None, "3", ValueError()],
    ids=["fair", "too far", "crash", "column 0", "text", "error"],
)
@pytest.mark.parametrize("play_game", [referee.play_game, kaggle.play_game], ids=["fast", "official"])
def test_the_replay_of_either_referee_holds_the_game(play_game, answer):
    settings = {"rows": 4, "columns": 5, "inarow": 3}
    record = play_game([first_free, lambda: answer], settings, [4])
    for kept in (record, GameRecord.from_json(record.to_json())):
        shown = replay(kept)
        assert shown["playing"]
        assert shown["controls"]
        assert shown["environment"]["name"] == "connectx"
        assert shown["environment"]["configuration"] == record.configuration
        assert json.dumps(shown["environment"]["steps"]) == json.dumps(record.steps)
        if record.ending is not Ending.CRASH:
            assert shown["environment"]["rewards"] == list(record.rewards)
            assert shown["environment"]["statuses"] == list(record.statuses)


def test_the_replay_of_a_game_lost_on_time():
    record = referee.play_game([first_free, first_free], {"rows": 1})
    late = GameRecord(
        record.configuration, (), (0,), (0, None), ("DONE", "TIMEOUT"), Ending.TIMEOUT, 1, None, (0.1, 70.0)
    )
    last = replay(late)["environment"]["steps"][-1]
    assert last[1]["status"] == "TIMEOUT"
    assert last[1]["observation"]["remainingOverageTime"] == -8


def test_the_builtin_agents_play_as_those_of_the_package():
    from kaggle_environments import evaluate

    for name in ("random", "negamax"):
        random.seed(5)
        expected = evaluate(
            "connectx", [name, "random"], {"rows": 4, "columns": 4, "inarow": 3}, num_episodes=3
        )
        random.seed(5)
        agents = [kaggle.builtin_agent(name), kaggle.builtin_agent("random")]
        games = [referee.play_game(agents, {"rows": 4, "columns": 4, "inarow": 3}) for _ in range(3)]
        assert [list(game.rewards) for game in games] == expected


def test_an_unknown_builtin_agent_is_named_with_the_known_ones():
    with pytest.raises(InputError, match=r"Kaggle has no agent 'negmax': it has negamax, random"):
        kaggle.builtin_agent("negmax")


def test_bad_settings_and_openings_are_refused_as_by_the_fast_referee():
    with pytest.raises(InputError, match="columns=0 cannot be played"):
        kaggle.play_game([first_free, first_free], {"columns": 0})
    with pytest.raises(BoardError, match="column 9 does not exist"):
        kaggle.play_game([first_free, first_free], opening=[8])
    with pytest.raises(InputError, match="ends the game"):
        kaggle.play_game([first_free, first_free], {"inarow": 1}, opening=[3])


def test_standard_error_is_kept_and_a_crash_explained():
    def loud(obs, config):
        print("thinking", obs.step, file=sys.stderr)
        return 3.0 if obs.step else 3

    record = kaggle.play_game([loud, first_free])
    assert record.ending is Ending.CRASH
    assert record.stderr.startswith("thinking 0\nTraceback")
    assert "TypeError: list indices must be integers" in record.stderr


def test_ctrl_c_during_a_move_stops_the_program():
    def interrupted(obs, config):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kaggle.play_game([first_free, interrupted])


def test_a_builtin_agent_does_not_import_the_package():
    program = (
        "import sys; from evaluation.kaggle import builtin_agent; builtin_agent('random');"
        "print('kaggle_environments' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_nothing_is_printed_by_the_package():
    program = "from evaluation.kaggle import play_game; play_game([lambda: 0, lambda: 1])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
