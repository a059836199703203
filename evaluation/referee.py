"""The fast referee: a game in this process, with the records Kaggle's own environment would give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluation.records import GameRecord

Agent = Callable[[Any, Any], Any]


def configuration(**overrides: Any) -> dict[str, Any]:
    """All settings of a game: `overrides`, then Kaggle's defaults for the rest, in Kaggle's order."""
    raise NotImplementedError


def play_game(
    agents: Sequence[Agent], configuration: Mapping[str, Any] | None = None, opening: Sequence[int] = ()
) -> GameRecord:
    """One game of `agents[0]`, who moves first, against `agents[1]`."""
    raise NotImplementedError
