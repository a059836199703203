import json
import pickle
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import InputError
from evaluation.records import Ending, GameRecord, lowest_empty, outcome
from evaluation.referee import configuration

WON = GameRecord(
    configuration=configuration(),
    opening=(3,),
    moves=(3, 0, 3, 0, 3, 0, 3),
    rewards=(1, -1),
    statuses=("DONE", "DONE"),
    ending=Ending.LINE,
    seconds=(0.1, 0.2, 0.3, 0.4, 2.5, 0.6),
)
REFUSED = GameRecord(
    configuration=configuration(rows=1),
    opening=(),
    moves=(3,),
    rewards=(0, None),
    statuses=("DONE", "INVALID"),
    ending=Ending.INVALID,
    culprit=1,
    refused=3,
    seconds=(0.1, 62.25),
    stderr="oh",
)


@pytest.mark.parametrize(
    ("ending", "rewards", "statuses"),
    [
        (Ending.LINE, (1, -1), ("DONE", "DONE")),
        (Ending.FULL, (0, 0), ("DONE", "DONE")),
        (Ending.STEPS, (0, 0), ("DONE", "DONE")),
        (Ending.INVALID, (None, 0), ("INVALID", "DONE")),
        (Ending.ERROR, (None, 0), ("ERROR", "DONE")),
        (Ending.TIMEOUT, (None, 0), ("TIMEOUT", "DONE")),
        (Ending.CRASH, (None, 0), ("ERROR", "DONE")),
    ],
)
def test_every_ending_has_its_rewards_statuses_and_points_in_both_seats(ending, rewards, statuses):
    assert outcome(ending, 0) == (rewards, statuses)
    assert outcome(ending, 1) == (rewards[::-1], statuses[::-1])
    points = {Ending.LINE: 1.0, Ending.FULL: 0.5, Ending.STEPS: 0.5}.get(ending, 0.0)
    for seat in (0, 1):
        culprit = seat if ending.is_forfeit else None
        record = GameRecord({}, (), (), *outcome(ending, seat), ending, culprit)
        assert record.points(seat) == points
        assert record.points(1 - seat) == 1 - points


def test_steps_show_the_board_the_actions_and_the_bank_after_every_move():
    steps = WON.steps
    assert len(steps) == 8
    assert [step[0]["observation"]["step"] for step in steps] == list(range(8))
    assert [sum(map(bool, step[0]["observation"]["board"])) for step in steps] == list(range(8))
    assert [step[0]["action"] for step in steps] == [0, 3, 0, 3, 0, 3, 0, 3]
    assert [step[1]["action"] for step in steps] == [0] * 8
    assert [step[0]["status"] for step in steps] == ["ACTIVE", "INACTIVE"] * 3 + ["ACTIVE", "DONE"]
    assert [(state["reward"], state["status"]) for state in steps[-1]] == [(1, "DONE"), (-1, "DONE")]
    # The fifth call is of seat 1, because the opening was no call of anybody's.
    assert [step[1]["observation"]["remainingOverageTime"] for step in steps] == [60] * 6 + [59.5] * 2
    assert [step[0]["observation"]["remainingOverageTime"] for step in steps] == [60] * 8


def test_a_forfeit_adds_a_step_with_what_was_refused_and_a_crash_does_not():
    last = REFUSED.steps[-1]
    assert len(REFUSED.steps) == 3
    assert [state["action"] for state in last] == [0, 3]
    assert [state["reward"] for state in last] == [0, None]
    assert [state["status"] for state in last] == ["DONE", "INVALID"]
    assert last[1]["observation"]["remainingOverageTime"] == -0.25
    crash = GameRecord(configuration(), (), (3,), (0, None), ("DONE", "ERROR"), Ending.CRASH, 1, None, (0.1,))
    assert [state["status"] for state in crash.steps[-1]] == ["INACTIVE", "ACTIVE"]
    assert len(crash.steps) == 2


def test_a_record_shows_its_last_position():
    assert WON.board.winner == 1
    assert ElementTree.fromstring(WON._repr_svg_()).tag.endswith("svg")


@given(
    st.builds(
        GameRecord,
        configuration=st.just(configuration(rows=3, theme={"a": [1, None]})),
        opening=st.lists(st.integers(0, 6)).map(tuple),
        moves=st.lists(st.integers(0, 6)).map(tuple),
        rewards=st.sampled_from([(1, -1), (0, 0), (None, 0)]),
        statuses=st.sampled_from([("DONE", "DONE"), ("ERROR", "DONE")]),
        ending=st.sampled_from(Ending),
        culprit=st.sampled_from([None, 0, 1]),
        refused=st.sampled_from([None, 7, 9.0]),
        seconds=st.lists(st.floats(0, 1e6)).map(tuple),
        stderr=st.text(),
    )
)
def test_a_record_survives_json_and_pickle(record):
    line = record.to_json()
    assert "\n" not in line
    assert GameRecord.from_json(line) == record
    assert pickle.loads(pickle.dumps(record)) == record


def test_the_steps_are_the_same_after_json():
    for record in (WON, REFUSED):
        again = GameRecord.from_json(record.to_json())
        assert json.dumps(again.steps) == json.dumps(record.steps)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "3", '{"moves": [1]}', WON.to_json()[:-9], WON.to_json().replace('"line"', '"luck"')],
    ids=["empty", "list", "number", "fields missing", "cut off", "unknown ending"],
)
def test_what_is_not_a_record_is_refused_in_one_line(text):
    with pytest.raises(InputError, match="not the record of a game") as caught:
        GameRecord.from_json(text)
    assert "\n" not in str(caught.value)


def test_a_disc_falls_to_the_lowest_empty_cell():
    cells = [0] * 6
    for expected in (4, 2, 0):
        assert lowest_empty(cells, 0, 2) == expected
        cells[expected] = 1
