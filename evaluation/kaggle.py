"""The official referee: the only module that imports kaggle_environments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluation.records import GameRecord

Agent = Callable[[Any, Any], Any]


def play_game(
    agents: Sequence[Agent], configuration: Mapping[str, Any] | None = None, opening: Sequence[int] = ()
) -> GameRecord:
    """One game of `agents[0]`, who moves first, against `agents[1]`."""
    raise NotImplementedError


def render_html(record: GameRecord) -> str:
    """Kaggle's player with the game in it, as one HTML page."""
    raise NotImplementedError


def builtin_agent(name: str) -> Agent:
    """Kaggle's own agent `name`: random or negamax."""
    raise NotImplementedError
