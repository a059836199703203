"""What the games of a match say about strength: the score and how far it can be trusted.

The unit of evidence is the reversed pair: two games from one opening with the seats swapped. The first
mover wins most games of ConnectX, so the two games of a pair are no independent draws, and an interval
that counts games is far too wide or far too narrow. How many independent games the pairs are worth
follows from how much their scores vary; Wilson's interval (JASA 22, 1927) is then taken for that number.

A score is the share of the points: 1 for a win, 0.5 for a draw; always from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist, fmean, pvariance

Z = NormalDist().inv_cdf(0.975)
"""Standard deviations either side of a 95 % interval."""


def score(wins: int, draws: int, losses: int) -> float:
    """Points won a game; nan without games."""
    games = wins + draws + losses
    return (wins + draws / 2) / games if games else float("nan")


def score_interval(pairs: Sequence[float], singles: Sequence[float] = ()) -> tuple[float, float]:
    """The 95 % interval of the score, from the scores of reversed pairs and of games without a partner.

    A single counts as one independent game. Without any games the interval is everything, (0, 1).
    """
    games = 2 * len(pairs) + len(singles)
    if not games:
        return 0.0, 1.0
    mean = (2 * sum(pairs) + sum(singles)) / games
    return wilson(mean, effective_games(pairs) + len(singles))


def effective_games(pairs: Sequence[float]) -> float:
    """How many independent games the scores (0 to 1) of reversed pairs are worth.

    Two a pair where the games are independent, one where both always go the same way, more than two
    where the seat decides them. The variance is pulled towards that of independent games with the
    weight of one pair. With fewer than 8 points won or lost in all, no more than two are granted: the
    variance of so few says little.
    """
    n = len(pairs)
    if not n:
        return 0.0
    mean = fmean(pairs)
    inside = min(max(mean, 0.5 / n), 1 - 0.5 / n)
    game_variance = inside * (1 - inside)
    variance = (n * pvariance(pairs) + game_variance / 2) / (n + 1)
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
