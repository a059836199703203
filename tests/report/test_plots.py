from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.report.plots import TICKS, EloAxis, TimeAxis, duration

elos = st.floats(-1e5, 1e5) | st.sampled_from([inf, -inf])


@given(st.lists(elos, min_size=1))
def test_an_elo_axis_holds_what_is_finite_between_round_numbers(values):
    axis = EloAxis.of(values)
    ticks = axis.ticks
    assert 2 <= len(ticks) <= TICKS
    assert (ticks[0].at, ticks[-1].at) == (0, 100)
    assert axis.start % axis.step == axis.end % axis.step == 0
    for value in values:
        assert 0 <= axis.at(value) <= 100
        assert value in (inf, -inf) or axis.start <= value <= axis.end


def test_labels_have_signs_and_a_bar_says_where_it_goes_on():
    axis = EloAxis.of([-80, 0, 120])
    assert [tick.label for tick in axis.ticks] == ["-100", "-50", "0", "+50", "+100", "+150"]
    bar = axis.bar(25, -inf, 150)
    assert (bar.at, bar.low, bar.high, bar.open_low, bar.open_high) == (50, 0, 100, True, False)
    assert axis.bar(inf, 0, inf).open_high


@given(st.lists(st.floats(0, 1e4), min_size=1))
def test_a_time_axis_runs_from_power_to_power(values):
    axis = TimeAxis.of(values)
    assert axis.ticks[0].at == 0
    assert axis.end > axis.start
    assert all(-0.01 <= axis.at(value) <= 100.01 for value in values)
    assert len(axis.ticks) <= 180


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (2, "2 s"),
        (60, "60 s"),
        (0.0123, "12 ms"),
        (0.9999, "1 s"),
        (0.001, "1 ms"),
        (3.4e-5, "34 µs"),
        (0, "0 µs"),
    ],
)
def test_durations_are_words(seconds, text):
    assert duration(seconds) == text
