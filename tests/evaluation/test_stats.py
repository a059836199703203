"""The score's interval: fixed numbers, its edges, and its coverage by simulation."""

from collections import Counter
from math import isclose, isnan, log, sqrt
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.stats import (
    PAIR_SCORES,
    Sprt,
    counted_interval,
    effective_games,
    likeliest,
    log_likelihood_ratio,
    percentage,
    score,
    score_interval,
    wilson,
)

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


KNOWN_COUNTS = [379, 10170, 21828, 10640, 343]
KNOWN_LLR = 2.9455  # of normalised Elo 2 against 0, by two independent public programs
NORMALISED_ELO = log(10) / 800 * sqrt(2)  # as a number of standard deviations of pairs


def with_mean_of_so_many_deviations(shares, deviations):
    """The likeliest distribution whose mean is so many of its own standard deviations from 0.5."""
    values = np.array(PAIR_SCORES)
    found = np.full(5, 0.2)
    for _ in range(50):
        mean = found @ values
        deviation = sqrt(found @ (values - mean) ** 2)
        tilt = (1 + ((mean - values) / deviation) ** 2) / 2
        found = likeliest(shares, values - 0.5 - deviations * deviation * tilt)
    return found


def test_likelihood_ratio_check_value():
    counts = np.array(KNOWN_COUNTS, float)
    zero, two = (
        with_mean_of_so_many_deviations(counts / counts.sum(), elo * NORMALISED_ELO) for elo in (0, 2)
    )
    assert counts @ np.log(two / zero) == pytest.approx(KNOWN_LLR, abs=5e-5)


def test_likelihood_ratio_of_the_same_hypotheses_as_scores():
    counts = np.array(KNOWN_COUNTS)
    values = np.array(PAIR_SCORES)
    mean = counts @ values / counts.sum()
    deviation = sqrt(counts @ (values - mean) ** 2 / counts.sum())
    scores = 0.5, 0.5 + 2 * NORMALISED_ELO * deviation
    assert log_likelihood_ratio(KNOWN_COUNTS, *scores) == pytest.approx(KNOWN_LLR, abs=2e-4)


@pytest.mark.parametrize("target", [0.3, 0.5, 0.62])
def test_the_likeliest_distribution_has_the_mean_and_no_other_is_likelier(target):
    shares = np.array([0.1, 0.2, 0.3, 0.3, 0.1])
    values = np.array(PAIR_SCORES)
    best = likeliest(shares, values - target)
    assert best.sum() == pytest.approx(1)
    assert best @ values == pytest.approx(target)
    for sideways in ([1, -2, 1, 0, 0], [0, 1, -2, 1, 0], [0, 0, 1, -2, 1]):
        for step in (-1e-3, 1e-3):
            other = best + step * np.array(sideways)
            assert shares @ np.log(other) < shares @ np.log(best)


@given(st.lists(st.integers(0, 50), min_size=5, max_size=5).filter(any))
def test_the_likelihood_ratio_changes_sign_with_the_hypotheses_and_the_sides(counts):
    ratio = log_likelihood_ratio(counts, 0.45, 0.6)
    assert log_likelihood_ratio(counts, 0.6, 0.45) == pytest.approx(-ratio, abs=1e-6)
    assert log_likelihood_ratio(counts[::-1], 0.55, 0.4) == pytest.approx(ratio, abs=1e-6)


def test_a_verdict_stands():
    test = Sprt(0.5, 0.6)
    while test.verdict is None:
        test.add(1.0)
    assert test.verdict == 0.6
    assert test.llr >= Sprt.BOUND == pytest.approx(2.9444, abs=1e-4)
    before = list(test.counts)
    test.add(0.0)
    assert test.counts == before
    losing = Sprt(0.5, 0.6)
    while losing.verdict is None:
        losing.add(0.25)
    assert losing.verdict == 0.5


def test_an_interval_from_counts():
    pairs, singles = [0.5, 1.0, 0.25, 0.5], [1.0]
    assert counted_interval(Counter(pairs), Counter(singles)) == score_interval(pairs, singles)


TESTS = [
    # the share of games that the first mover wins between equals; whether games can be drawn
    ("independent games", 0.5, False),
    ("first mover wins 80 %", 0.8, False),
    ("first mover wins 90 %", 0.9, False),
    ("with draws", 0.6, True),
]
HYPOTHESES = 0.5, 0.55


def verdicts(expected, first, draws, tests):
    """How often the score that is not true was accepted, and pairs a test, where `expected` is the score."""
    rng = Random(11)
    wrong = pairs = 0
    for _ in range(tests):
        test = Sprt(*HYPOTHESES)
        while test.verdict is None:
            test.add(sum(point(rng, expected + seat * (first - 0.5), draws) for seat in (1, -1)) / 2)
            pairs += 1
        wrong += test.verdict != expected
    return wrong / tests, pairs / tests


def point(rng, expected, draws):
    """The points of a game with that expected score."""
    expected = min(max(expected, 0.0), 1.0)
    if draws:
        return ((rng.random() < expected) + (rng.random() < expected)) / 2
    return float(rng.random() < expected)


def test_few_verdicts_are_wrong():
    for expected in HYPOTHESES:
        wrong, pairs = verdicts(expected, 0.8, False, 60)
        assert wrong <= 9 / 60  # of 5 % one time in 1,500 more
        assert pairs < 400


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("name", "first", "draws"), TESTS)
@pytest.mark.parametrize("expected", HYPOTHESES)
def test_error_rates_of_the_sequential_test(name, first, draws, expected):
    wrong, pairs = verdicts(expected, first, draws, 2000)
    print(f"{name}, score {expected}: {wrong:.3f} wrong, {pairs:.0f} pairs")
    assert wrong <= 0.065
