"""Ratings of a pool of agents: Bradley and Terry's model with a term for the first move, on Elo's scale.

Who moves first, with rating a, against rating b scores 1 / (1 + 10 ** ((b - a - first) / 400)) on average, a
draw being half a win. The likeliest ratings are found by Newton's method, their intervals by a bootstrap over
reversed pairs of games (Bradley and Terry, Biometrika 39, 1952; Efron and Tibshirani, 1993).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from evaluation.errors import InputError

ELO = 400 / log(10)
"""Elo points a unit of the logistic scale."""
SAMPLES = 1000
FIRST_MOVE_SPREAD = 3.0
"""Standard deviation (logistic scale) of the weak prior that keeps the first-move term finite."""
NO_GAME = 3
POINTS = np.array([0.0, 0.5, 1.0, 0.0])

Outcomes = np.ndarray
"""4 by 4 counts of the pairs of two agents: `[x][y]` of those in which the one agent got x halves of a point
moving first and y moving second; 3 for a game that was not played."""


class UnratedError(InputError):
    """A pool whose agents cannot be put on one scale."""


@dataclass(frozen=True)
class Rating:
    """A rating with its 95 % interval; all Elo points, infinite where nothing bounds them."""

    elo: float
    low: float
    high: float


@dataclass(frozen=True)
class Ratings:
    """The ratings of all agents, in their order, and what moving first is worth (Elo points)."""

    agents: tuple[Rating, ...]
    first_move: Rating


def rate(
    names: Sequence[str], results: Mapping[tuple[int, int], Outcomes], anchor: int = 0, seed: int = 0
) -> Ratings:
    """Rates agents by the results of those that met, `(one, two)`; the agent `anchor` gets 0.

    Points connect agents: an agent off which `anchor` took none, directly or through others, is rated
    infinity, one that took none off it minus infinity. So that intervals of few or one-sided pairs are
    wide, even games are mixed in before pairs are resampled: one pair an agent, divided among its meetings.

    Raises `UnratedError` naming the groups if no results connect some agents to the anchor.
    """
    count = len(names)
    index = np.array(list(results)).reshape(-1, 2)
    observed = np.array([results[one, two] for one, two in results], float).reshape(-1, 4, 4)
    elo = _fit(count, index, observed[None], anchor)[0]
    if np.isnan(elo).any():
        raise UnratedError(_groups(names, index, observed))
    spread = _fit(count, index, _resample(index, observed, np.random.default_rng(seed)), anchor)
    low, high = np.nanpercentile(spread, [2.5, 97.5], axis=0, method="closest_observation")
    ratings = [Rating(*map(float, values)) for values in zip(elo, low, high, strict=True)]
    return Ratings(tuple(ratings[:count]), ratings[count])


def _resample(index: np.ndarray, observed: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """`SAMPLES` draws of as many pairs as every two agents played, even ones mixed in.

    A whole pair for every meeting would draw the agents of a large pool together, until intervals no longer
    held the ratings themselves.
    """
    even = np.zeros((4, 4))
    even[:3:2, :3:2] = 0.25
    meetings = np.bincount(index.ravel())
    mixed_in = 1 / meetings[index].min(axis=1)
    draws = []
    for pairs, weight in zip(observed, mixed_in, strict=True):
        total = round(pairs.sum())
        shares = ((pairs + weight * even) / (total + weight)).ravel()
        draws.append(random.multinomial(total, shares, size=SAMPLES).reshape(-1, 4, 4))
    return np.stack(draws, axis=1)


def _fit(count: int, index: np.ndarray, outcomes: np.ndarray, anchor: int) -> np.ndarray:
    """The likeliest ratings and first-move term (Elo points) of each of the samples `outcomes`.

    `outcomes` is samples x meetings x 4 x 4; `index` says who met. Returns samples x (`count` + 1).
    """
    played = np.zeros((len(outcomes), count, count))  # games of the row's agent moving first
    points = np.zeros_like(played)  # and its points in them
    one, two = index.T
    first, second = outcomes.sum(axis=3), outcomes.sum(axis=2)
    played[:, one, two], points[:, one, two] = first[..., :NO_GAME].sum(axis=2), first @ POINTS
    played[:, two, one] = second[..., :NO_GAME].sum(axis=2)
    points[:, two, one] = played[:, two, one] - second @ POINTS
    above, below = _reach(played, points, anchor)
    inside = above & below
    both = inside[:, :, None] & inside[:, None, :]
    fitted = _newton(played * both, points * both, anchor) * ELO
    for reached, value in ((above & ~below, np.inf), (below & ~above, -np.inf), (~above & ~below, np.nan)):
        fitted[:, :count][reached] = value
    return fitted


def _reach(played: np.ndarray, points: np.ndarray, anchor: int) -> tuple[np.ndarray, np.ndarray]:
    """Which agents took points off the anchor, and which it took points off: directly or through others."""
    count = played.shape[1]
    taken = points + np.swapaxes(played - points, 1, 2) > 0
    taken |= np.eye(count, dtype=bool)
    for _ in range(count.bit_length()):
        taken = taken @ taken
    return taken[:, :, anchor], taken[:, anchor, :]


def _newton(played: np.ndarray, points: np.ndarray, anchor: int) -> np.ndarray:
    """The likeliest parameters of every sample: ratings, then the first-move term, on the logistic scale."""
    samples, count, _ = played.shape
    values = np.zeros((samples, count + 1))
    idle = played.sum(axis=(1,)) + played.sum(axis=(2,)) == 0  # nothing to fit: kept at 0
    idle[:, anchor] = True
    free = np.concatenate([~idle, np.ones((samples, 1), bool)], axis=1)
    for _ in range(100):
        margin = values[:, :count, None] - values[:, None, :count] + values[:, count, None, None]
        expected = 1 / (1 + np.exp(-margin))
        surplus = points - played * expected
        weight = played * expected * (1 - expected)
        gradient = np.empty_like(values)
        gradient[:, :count] = surplus.sum(axis=2) - surplus.sum(axis=1)
        gradient[:, count] = surplus.sum(axis=(1, 2)) - values[:, count] / FIRST_MOVE_SPREAD**2
        hessian = np.zeros((samples, count + 1, count + 1))
        hessian[:, :count, :count] = -weight - np.swapaxes(weight, 1, 2)
        diagonal = np.arange(count)
        hessian[:, diagonal, diagonal] += weight.sum(axis=2) + weight.sum(axis=1)
        hessian[:, count, :count] = hessian[:, :count, count] = weight.sum(axis=2) - weight.sum(axis=1)
        hessian[:, count, count] = weight.sum(axis=(1, 2)) + FIRST_MOVE_SPREAD**-2
        hessian *= free[:, :, None] & free[:, None, :]
        hessian[:, np.arange(count + 1), np.arange(count + 1)] += ~free + 1e-9
        step = np.linalg.solve(hessian, (gradient * free)[..., None])[..., 0]
        values += np.clip(step, -1, 1)
        if np.abs(step).max() < 1e-9:
            break
    return values


def _groups(names: Sequence[str], index: np.ndarray, outcomes: np.ndarray) -> str:
    """Which groups of agents the results connect, within each every two directly or through others."""
    groups: list[list[int]] = []
    left = set(range(len(names)))
    while left:
        fit = _fit(len(names), index, outcomes[None], min(left))[0, : len(names)]
        groups.append(sorted(agent for agent in left if not np.isnan(fit[agent])))
        left -= set(groups[-1])
    listed = "; ".join(", ".join(names[agent] for agent in group) for group in groups)
    return f"no ratings: no results connect these groups: {listed}. Let some of them play each other"
