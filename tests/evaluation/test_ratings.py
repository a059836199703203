"""Ratings: exact cases, what cannot be rated, and coverage of the intervals by simulation."""

from math import inf, log10

import numpy as np
import pytest

from evaluation.ratings import ELO, UnratedError, rate


def pairs(**counts):
    """Outcomes of pairs: `w` a win, `d` a draw, `l` a loss, `_` no game; moving first, then second."""
    table = np.zeros((4, 4), int)
    for outcome, count in counts.items():
        table["ldw_".index(outcome[0]), "ldw_".index(outcome[1])] += count
    return table


def test_two_agents_get_the_difference_of_their_score():
    # 75 % of the points in either seat: 400 log10(3) Elo, and nothing for the first move.
    ratings = rate("ab", {(0, 1): pairs(ww=150, ll=50)}, anchor=1)
    assert ratings.agents[0].elo == pytest.approx(400 * log10(3), abs=0.1)
    assert ratings.agents[1] == (ratings.agents[1].__class__)(0.0, 0.0, 0.0)
    assert ratings.first_move.elo == pytest.approx(0, abs=0.1)
    assert ratings.agents[0].low < ratings.agents[0].elo < ratings.agents[0].high


def test_the_first_move_has_a_term_of_its_own():
    # Equal agents of whom the first mover wins 90 %.
    ratings = rate("ab", {(0, 1): pairs(wl=820, lw=10, ww=90, ll=80)})
    assert ratings.first_move.elo == pytest.approx(400 * log10(0.91 / 0.09), rel=0.03)
    assert abs(ratings.agents[1].elo) < 20


def test_draws_count_half():
    drawn = rate("ab", {(0, 1): pairs(dd=100, ww=50)})
    won = rate("ab", {(0, 1): pairs(ll=50, ww=100)})
    assert drawn.agents[1].elo == pytest.approx(won.agents[1].elo)


def test_games_without_a_partner_count():
    ratings = rate("ab", {(0, 1): pairs(w_=60, l_=20, _w=60, _l=20)}, anchor=1)
    assert ratings.agents[0].elo == pytest.approx(400 * log10(3), abs=0.1)


def test_a_chain_is_rated_through_its_links():
    link = pairs(ww=150, ll=50)
    ratings = rate("abc", {(0, 1): link, (1, 2): link}, anchor=2)
    assert [agent.elo for agent in ratings.agents] == pytest.approx(
        [800 * log10(3), 400 * log10(3), 0], abs=0.2
    )


def test_the_anchor_moves_the_scale_only():
    results = {(0, 1): pairs(ww=30, wl=20, ll=10), (1, 2): pairs(ww=25, ll=15)}
    one, two = (rate("abc", results, anchor=anchor) for anchor in (0, 2))
    shift = two.agents[0].elo
    assert [a.elo + shift for a in one.agents] == pytest.approx([a.elo for a in two.agents])


def test_who_lost_no_point_is_rated_infinity_with_a_finite_lower_bound():
    ratings = rate("abc", {(0, 1): pairs(ww=50, ll=50), (1, 2): pairs(ll=40), (0, 2): pairs(ll=40)})
    best = ratings.agents[2]
    assert (best.elo, best.high) == (inf, inf)
    assert 200 < best.low < 1000
    turned = rate("abc", {(0, 1): pairs(ww=50, ll=50), (1, 2): pairs(ll=40), (0, 2): pairs(ll=40)}, anchor=2)
    assert (turned.agents[0].elo, turned.agents[0].low) == (-inf, -inf)


def test_the_first_mover_always_wins_and_nobody_is_better():
    ratings = rate("ab", {(0, 1): pairs(wl=100)})
    assert ratings.agents[1].elo == pytest.approx(0, abs=1e-6)
    assert 500 < ratings.first_move.elo < inf


def test_a_pool_that_is_not_connected_is_refused_naming_the_groups():
    link = pairs(ww=10, ll=10)
    results = {(0, 1): link, (2, 3): link, (0, 2): pairs(), (1, 4): pairs()}
    with pytest.raises(UnratedError, match=r"no results connect these groups: a, b; c, d; e\. Let some"):
        rate("abcde", results)
    with pytest.raises(UnratedError, match="a; b"):
        rate("ab", {(0, 1): pairs()})


def simulated(random, elos, first, count):
    """Pairs of every two agents."""
    results = {}
    for one in range(len(elos)):
        for two in range(one + 1, len(elos)):
            gap = (elos[one] - elos[two]) / ELO
            wins = [random.random(count) < 1 / (1 + np.exp(-gap - seat * first / ELO)) for seat in (1, -1)]
            table = np.zeros((4, 4), int)
            np.add.at(table, (2 * wins[0], 2 * wins[1]), 1)
            results[one, two] = table
    return results


POOLS = [
    # Elo of the agents, of the first move, pairs of every two
    ((0, 0), 0, 100),
    ((0, 50), 400, 100),
    ((0, 100, 250, 400), 80, 20),
    ((0, 100, 250, 400), 300, 100),
    ((0, 300, 600), 100, 50),
    ((0, -700, 300, 900), 60, 20),
    ((0, -34, -700, -700, 256, 600, 1300), 15, 20),
    ((0, 50, 100, 150, 200, 250, 300, 350), 50, 10),
]


def coverage(elos, first, count, pools):
    """For each agent but the anchor, the share of simulated pools whose interval holds its rating."""
    random = np.random.default_rng(3)
    inside = np.zeros(len(elos) + 1)
    for _ in range(pools):
        ratings = rate(range(len(elos)), simulated(random, elos, first, count))
        for number, rating in enumerate((*ratings.agents, ratings.first_move)):
            inside[number] += rating.low <= (*elos, first)[number] <= rating.high
    return inside[1:] / pools


def test_intervals_hold_the_truth_as_often_as_they_say():
    assert (coverage((0, 100, 250), 100, 60, 60) >= 0.85).all()


def test_a_rating_lies_in_its_interval_however_one_sided_the_pool():
    random = np.random.default_rng(5)
    for _ in range(3):
        ratings = rate("abcdefg", simulated(random, (0, -34, -700, -700, 256, 600, 1300), 15, 20))
        for rating in ratings.agents:
            assert rating.low <= rating.elo <= rating.high


@pytest.mark.slow
@pytest.mark.parametrize(("elos", "first", "count"), POOLS)
def test_coverage(elos, first, count):
    covered = coverage(elos, first, count, 1000)
    print(elos, first, count, covered.round(3))
    assert (covered > 0.92).all()
    assert (covered < 0.995).all()
