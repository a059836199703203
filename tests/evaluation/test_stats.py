"""The score's interval: fixed numbers, its edges, and its coverage by simulation."""

from math import isclose, isnan
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.stats import effective_games, percentage, score, score_interval, wilson

PAIR = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


def test_score_counts_draws_half():
    assert score(3, 2, 5) == 0.4
    assert score(0, 0, 7) == 0.0
    assert isnan(score(0, 0, 0))


@pytest.mark.parametrize(
    ("share", "games", "low", "high"),
    [  # the first two from the literature's worked examples (Newcombe 1998, method 3)
        (81 / 263, 263, 0.2553, 0.3662),
        (15 / 148, 148, 0.0624, 0.1605),
        (0.0, 20, 0.0, 0.1611),
        (1.0, 1, 0.2065, 1.0),
    ],
)
def test_wilson(share, games, low, high):
    assert wilson(share, games) == pytest.approx((low, high), abs=5e-5)


def test_independent_games_count_fully():
    scores = [0.0] * 25 + [0.5] * 50 + [1.0] * 25  # the spread of pairs of fair coins
    assert effective_games(scores) == pytest.approx(200)
    assert score_interval(scores) == pytest.approx(wilson(0.5, 200))


def test_pairs_that_go_one_way_count_one_game_each():
    assert effective_games([0.0, 1.0] * 50) == pytest.approx(100, rel=0.01)


def test_pairs_decided_by_the_seat_count_more():
    scores = [0.5] * 82 + [0.0] * 9 + [1.0] * 9  # the first mover wins 90 %
    # By hand: v = (100 * 0.045 + 0.125) / 101, n_eff = 100 * 0.25 / v.
    assert effective_games(scores) == pytest.approx(25 * 101 / 4.625)


def test_few_lost_points_count_no_more_than_their_games():
    assert effective_games([0.5]) == 2
    assert effective_games([1.0] * 30) == 60
    assert effective_games([1.0] * 48 + [0.5] * 2) <= 100
    # 8 points lost, all in halves: the seat decided, and that is believed.
    assert effective_games([0.5] * 8 + [1.0] * 8) > 8


def test_no_games_say_nothing():
    assert effective_games([]) == 0
    assert score_interval([]) == (0.0, 1.0)


def test_a_game_without_a_partner_is_one_game():
    assert score_interval([], [1.0]) == wilson(1.0, 1)
    assert score_interval([], [0.5, 0.0]) == wilson(0.25, 2)
    pairs = [0.0, 0.5, 0.5, 1.0] * 10
    mean = (2 * 20 + 1) / 81
    assert score_interval(pairs, [1.0]) == wilson(mean, effective_games(pairs) + 1)


@given(st.lists(PAIR, max_size=60), st.lists(st.sampled_from([0.0, 0.5, 1.0]), max_size=1))
def test_the_interval_is_sound(pairs, singles):
    low, high = score_interval(pairs, singles)
    assert 0 <= low < high <= 1
    if games := 2 * len(pairs) + len(singles):
        mean = (2 * sum(pairs) + sum(singles)) / games
        assert low - 1e-12 <= mean <= high + 1e-12
    mirrored = score_interval([1 - pair for pair in pairs], [1 - single for single in singles])
    assert isclose(mirrored[0], 1 - high, abs_tol=1e-9)
    assert isclose(mirrored[1], 1 - low, abs_tol=1e-9)


def test_percentage():
    assert [percentage(share) for share in (0, 0.5432, 1)] == ["0.0 %", "54.3 %", "100.0 %"]


def games(share):
    """Pairs of independent games, each won with probability `share`."""
    return lambda rng: ((rng.random() < share) + (rng.random() < share)) / 2


def first_mover(rng):
    """Equal agents, of whom the first mover wins 90 %."""
    return ((rng.random() < 0.9) + (rng.random() < 0.1)) / 2


def one_way(rng):
    """Both games of a pair won or both lost."""
    return float(rng.random() < 0.5)


COVERAGE = [
    # what is drawn, pairs, expected score, coverage to three digits as simulated when this was planned
    ("independent, 0.5", games(0.5), 100, 0.5, 0.947),
    ("first mover wins 90 %", first_mover, 100, 0.5, 0.948),
    ("one way", one_way, 100, 0.5, 0.944),
    ("independent, 0.9", games(0.9), 20, 0.9, 0.948),
    ("independent, 0.99", games(0.99), 50, 0.99, 0.922),
]


def coverage(draw, pairs, expected, matches):
    """The share of simulated matches whose interval holds the expected score."""
    rng = Random(7)
    inside = 0
    for _ in range(matches):
        low, high = score_interval([draw(rng) for _ in range(pairs)])
        inside += low <= expected <= high
    return inside / matches


@pytest.mark.parametrize(
    ("draw", "pairs", "expected", "known"), [row[1:] for row in COVERAGE], ids=[row[0] for row in COVERAGE]
)
def test_coverage(draw, pairs, expected, known):
    assert coverage(draw, pairs, expected, 1000) == pytest.approx(known, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "pairs", "expected", "known"), [row[1:] for row in COVERAGE], ids=[row[0] for row in COVERAGE]
)
def test_coverage_closely(draw, pairs, expected, known):
    assert coverage(draw, pairs, expected, 40_000) == pytest.approx(known, abs=0.006)
