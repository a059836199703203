"""What the games of a match say about strength: the score and how far it can be trusted.

The unit of evidence is the reversed pair: two games from one opening with the seats swapped. The first
mover wins most games of ConnectX, so the two games of a pair are no independent draws, and an interval
that counts games is far too wide or far too narrow. How many independent games the pairs are worth
follows from how much their scores vary; Wilson's interval (JASA 22, 1927) is then taken for that number.

A score is the share of the points: 1 for a win, 0.5 for a draw; always from 0 to 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log, sqrt
from statistics import NormalDist

import numpy as np

Z = NormalDist().inv_cdf(0.975)
"""Standard deviations either side of a 95 % interval."""


def score(wins: int, draws: int, losses: int) -> float:
    """Points won a game; nan without games."""
    games = wins + draws + losses
    return (wins + draws / 2) / games if games else float("nan")


def score_interval(pairs: Iterable[float], singles: Iterable[float] = ()) -> tuple[float, float]:
    """The 95 % interval of the score, from the scores of reversed pairs and of games without a partner.

    A single counts as one independent game. Without any games the interval is everything, (0, 1).
    """
    return counted_interval(Counter(pairs), Counter(singles))


def counted_interval(pairs: Mapping[float, int], singles: Mapping[float, int]) -> tuple[float, float]:
    """`score_interval` from how often each score occurred."""
    of_pairs, of_singles = sum(pairs.values()), sum(singles.values())
    if not of_pairs + of_singles:
        return 0.0, 1.0
    points = 2 * sum(score * count for score, count in pairs.items())
    points += sum(score * count for score, count in singles.items())
    return wilson(points / (2 * of_pairs + of_singles), _effective_games(pairs) + of_singles)


def effective_games(pairs: Iterable[float]) -> float:
    """How many independent games the scores (0 to 1) of reversed pairs are worth.

    Two a pair where the games are independent, one where both always go the same way, more than two
    where the seat decides them. The variance is pulled towards that of independent games with the
    weight of one pair. With fewer than 8 points won or lost in all, no more than two are granted: the
    variance of so few says little.
    """
    return _effective_games(Counter(pairs))


def _effective_games(pairs: Mapping[float, int]) -> float:
    n = sum(pairs.values())
    if not n:
        return 0.0
    mean = sum(score * count for score, count in pairs.items()) / n
    inside = min(max(mean, 0.5 / n), 1 - 0.5 / n)
    game_variance = inside * (1 - inside)
    spread = sum(count * (score - mean) ** 2 for score, count in pairs.items())
    variance = (spread + game_variance / 2) / (n + 1)
    games = n * game_variance / variance
    return min(games, 2 * n) if 2 * n * min(mean, 1 - mean) < 8 else games


def wilson(share: float, games: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a probability, seen as `share` (0 to 1) of `games` > 0."""
    centre = share + Z * Z / (2 * games)
    half = Z * sqrt(share * (1 - share) / games + Z * Z / (4 * games * games))
    scale = 1 + Z * Z / games
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)


def percentage(share: float) -> str:
    """`share` (0 to 1) in percent with one decimal: 54.3 %."""
    return f"{100 * share:.1f} %"


PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
REGULARISATION = 1e-3
"""How often an outcome that has not occurred is taken to have."""


class Sprt:
    """A sequential probability ratio test of two expected scores, on reversed pairs of games.

    The generalised test of Van den Bergh (the one of fishtest) with the exact likelihood ratio: each
    hypothesis is the likeliest distribution of the five pair scores that has its expected score. Errors
    of either kind are promised to be about 5 %.

    Attributes:
        counts: how often each of `PAIR_SCORES` occurred.
        llr: the logarithm of the likelihood ratio, `score1` over `score0`.
        verdict: the score that is accepted, None while there is no verdict. It does not change again.
    """

    BOUND = log((1 - 0.05) / 0.05)
    """The test ends where `llr` leaves the interval from -BOUND to BOUND."""

    def __init__(self, score0: float, score1: float) -> None:
        self.scores = score0, score1
        self.counts = [0] * len(PAIR_SCORES)
        self.llr = 0.0
        self.verdict: float | None = None

    def add(self, pair: float) -> None:
        """Takes in the score of a pair (0 to 1), unless there is a verdict."""
        if self.verdict is None:
            self.counts[PAIR_SCORES.index(pair)] += 1
            self.llr = log_likelihood_ratio(self.counts, *self.scores)
            if abs(self.llr) >= self.BOUND:
                self.verdict = self.scores[self.llr > 0]


def log_likelihood_ratio(counts: Sequence[int], score0: float, score1: float) -> float:
    """How much likelier `counts` of the five pair scores are with an expected `score1` than with `score0`."""
    seen = np.maximum(np.array(counts, float), REGULARISATION)
    shares = seen / seen.sum()
    values = np.array(PAIR_SCORES)
    one, zero = (likeliest(shares, values - score) for score in (score1, score0))
    return float(seen @ np.log(one / zero))


def likeliest(shares: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The distribution under which `shares` are the likeliest, of those with mean 0 of `offsets`.

    `offsets` have both signs. It is shares / (1 + t offsets), with t such that the mean is 0 (Owen 1988).
    """
    from scipy.optimize import brentq  # half a second that processes which only play would pay, too

    def mean(t: float) -> float:
        return float((shares * offsets / (1 + t * offsets)).sum())

    low, high = -1 / offsets.max(), -1 / offsets.min()
    margin = 1e-12 * (high - low)
    t = brentq(mean, low + margin, high - margin, xtol=1e-15)
    return np.asarray(shares / (1 + t * offsets))
