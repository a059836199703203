"""What the fast referee does beyond Kaggle's record; that record is the matter of test_differential.py."""

import subprocess
import sys

import pytest

from engine.board import BoardError
from evaluation.errors import InputError
from evaluation.records import STDERR_LIMIT, Ending
from evaluation.referee import configuration, play_game


def first_free(obs, config):
    return next(column for column in range(config.columns) if not obs.board[column])


def test_the_settings_of_an_ordinary_game():
    assert list(configuration().items()) == [
        ("episodeSteps", 1000),
        ("actTimeout", 2),
        ("runTimeout", 1200),
        ("columns", 7),
        ("rows", 6),
        ("inarow", 4),
        ("agentTimeout", 60),
        ("timeout", 2),
    ]
    assert configuration(**configuration(rows=3, theme="dark")) == configuration(rows=3, theme="dark")


def test_a_setting_that_cannot_be_played_is_named_with_its_value():
    with pytest.raises(InputError) as caught:
        play_game([first_free, first_free], {"rows": "7"})
    assert str(caught.value) == "rows='7' cannot be played: it must be a whole number of at least 1"


def test_a_game_leaves_the_settings_and_the_opening_it_was_given_alone():
    settings, opening = {"rows": 3, "columns": 3, "inarow": 3}, [1]
    record = play_game([first_free, first_free], settings, opening)
    assert settings == {"rows": 3, "columns": 3, "inarow": 3}
    assert opening == [1]
    assert record.opening == (1,)
    assert record.configuration == configuration(**settings)


@pytest.mark.parametrize(
    ("settings", "opening", "error", "message"),
    [
        ({}, [7], BoardError, "column 8 does not exist"),
        ({}, [-1], BoardError, "column 0 does not exist"),
        ({"rows": 1}, [2, 2], BoardError, "column 3 is full"),
        ({"inarow": 2}, [0, 1, 0], InputError, r"opening \[0, 1, 0\] ends the game before"),
        ({"rows": 1, "columns": 2}, [0, 1], InputError, "shorten it"),
        ({"episodeSteps": 3}, [0, 1], InputError, "shorten it"),
    ],
)
def test_an_opening_that_leaves_no_game_is_refused(settings, opening, error, message):
    with pytest.raises(error, match=message):
        play_game([first_free, first_free], settings, opening)


def test_an_opening_may_leave_a_single_move():
    assert play_game([first_free, first_free], {"episodeSteps": 4}, [0, 1]).moves == (0, 1, 0)


def test_what_agents_print_is_not_seen_and_their_standard_error_is_kept(capsys):
    def loud(obs, config):
        print("out loud")
        print("move", obs.step, file=sys.stderr)
        return first_free(obs, config)

    record = play_game([loud, first_free])
    assert capsys.readouterr() == ("", "")
    assert record.stderr.splitlines() == [f"move {ply}" for ply in range(0, len(record.moves), 2)]


def test_of_standard_error_the_end_is_kept_and_it_shows_the_agents_own_frames():
    def wordy(obs, config):
        sys.stderr.write("x" * 3 * STDERR_LIMIT)
        if obs.step > 3:
            raise ValueError("on purpose")
        return first_free(obs, config)

    record = play_game([first_free, wordy])
    assert record.ending is Ending.ERROR
    assert len(record.stderr) == STDERR_LIMIT
    record = play_game([lambda: 1 / 0, first_free])
    assert record.stderr.endswith("ZeroDivisionError: division by zero\n")
    assert "evaluation/referee.py" not in record.stderr


@pytest.mark.parametrize(("limit", "kept"), [(3, "xxx"), (None, "x" * STDERR_LIMIT), (0, "")])
def test_the_setting_that_limits_what_is_kept_of_a_move(limit, kept):
    def wordy(obs, config):
        sys.stderr.write("x" * 2 * STDERR_LIMIT)
        return 0

    settings = {"rows": 1, "columns": 1, "maxLogLength": limit}
    assert play_game([wordy, wordy], settings).stderr == kept


def test_standard_error_kept_from_an_earlier_move_is_closed_as_on_kaggle():
    kept = []

    def agent(obs, config):
        kept.append(sys.stderr)
        print("hello", file=kept[0])
        return first_free(obs, config)

    record = play_game([agent, first_free])
    assert record.ending is Ending.ERROR
    assert len(record.moves) == 2
    assert "I/O operation on closed file" in record.stderr


@pytest.mark.parametrize("error", [None, ValueError, SystemExit])
def test_the_streams_are_given_back_whatever_an_agent_does(error):
    def thief(obs, config):
        sys.stdout = sys.stderr = None
        if error:
            raise error
        return first_free(obs, config)

    streams = sys.stdout, sys.stderr
    play_game([thief, first_free])
    assert (sys.stdout, sys.stderr) == streams


def test_ctrl_c_during_a_move_stops_the_program():
    def interrupted(obs, config):
        raise KeyboardInterrupt

    streams = sys.stdout, sys.stderr
    with pytest.raises(KeyboardInterrupt):
        play_game([first_free, interrupted])
    assert (sys.stdout, sys.stderr) == streams


def test_both_seats_may_be_one_function_with_state():
    steps = []

    def agent(obs, config):
        steps.append((obs.step, obs.mark))
        return first_free(obs, config)

    record = play_game([agent, agent])
    assert steps == [(ply, ply % 2 + 1) for ply in range(len(record.moves))]


def test_a_game_without_kaggle_environments_does_not_import_it():
    program = (
        "import sys; from evaluation.referee import play_game; import evaluation.kaggle;"
        "play_game([lambda: ValueError()] * 2); print('kaggle_environments' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
