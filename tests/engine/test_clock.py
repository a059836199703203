"""How long a move may take, and that nothing but the replaceable clock is read."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.clock import move_deadline, move_seconds, now

FULL_BANK = 60


@pytest.mark.parametrize(
    ("act_timeout", "bank", "seconds"),
    [
        (2, FULL_BANK, 1.7),  # Kaggle's settings
        (10, FULL_BANK, 8.5),
        (0.2, FULL_BANK, 0.15),  # short moves keep 0.05 s
        (0.02, FULL_BANK, 0.01),  # but never more than half of the move
        (0, FULL_BANK, 0),  # the bank is not planned with
        (2, 1.9, 1),  # a low bank makes careful
        (2, 0, 1),
        (2, -0.5, 0.75),  # a negative one shortens the move
        (2, -3, 0),
        (0, -1, 0),
    ],
)
def test_seconds_for_a_move(act_timeout: float, bank: float, seconds: float):
    assert move_seconds(act_timeout, bank) == pytest.approx(seconds)


@given(act_timeout=st.floats(0, 1000), bank=st.floats(-1000, 1000))
def test_a_move_ends_before_kaggle_would_count_it_as_too_slow(act_timeout: float, bank: float):
    seconds = move_seconds(act_timeout, bank)
    assert seconds >= 0
    assert seconds == 0 or seconds - act_timeout < min(0, bank)


@given(act_timeout=st.floats(0, 1000), bank=st.floats(-1000, 1000), more=st.floats(0, 1000))
def test_more_time_is_never_less_time(act_timeout: float, bank: float, more: float):
    assert move_seconds(act_timeout + more, bank) >= move_seconds(act_timeout, bank)
    assert move_seconds(act_timeout, bank + more) >= move_seconds(act_timeout, bank)


def test_the_deadline_counts_from_the_start_of_the_call(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("time.perf_counter", lambda: 100.0)
    start = now()
    # Kaggle's own settings; `timeout` and `agentTimeout` are never to be read.
    config = SimpleNamespace(actTimeout=2)
    observation = SimpleNamespace(remainingOverageTime=60)
    assert (start, move_deadline(observation, config, start)) == (100, 101.7)
