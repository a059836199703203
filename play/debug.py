"""What the setting Debug prints about every move: the values of the columns, the agent's search.

The board belongs above it; who shows none prints `str(board)` first.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from types import SimpleNamespace
from typing import Any

from engine import search
from engine.board import Board
from engine.native.search import NativeSearch, native_search
from engine.search import SearchResult, alpha_beta
from engine.windows import preset, window_evaluation
from evaluation.referee import Agent

EVALUATE = window_evaluation(preset("article"))
SEARCHES = ("minimax", "alpha_beta", "iterative_deepening")
SECONDS = 1.0  # that the values of the columns may take


def overhear(agent: Agent) -> list[SearchResult]:
    """A list to which every later search of `agent`, freshly loaded by its spec, adds what it found.

    It stays empty for agents that search in another way, or whose module cannot be reached.
    """
    heard: list[SearchResult] = []
    names: dict[str, Any] = getattr(agent, "__globals__", {})
    for name in SEARCHES:
        if name in names and names[name] is getattr(search, name):
            names[name] = _reporting(names[name], heard)
    if names.get("native_search") is native_search:
        names["native_search"] = lambda *arguments: _overheard(native_search(*arguments), heard)
    return heard


def _overheard(core: NativeSearch | None, heard: list[SearchResult]) -> SimpleNamespace | None:
    """The search in the native core, reporting."""
    if core is None:
        return None
    return SimpleNamespace(
        alpha_beta=_reporting(core.alpha_beta, heard),
        iterative_deepening=_reporting(core.iterative_deepening, heard),
    )


def _reporting(
    function: Callable[..., SearchResult], heard: list[SearchResult]
) -> Callable[..., SearchResult]:
    def search_and_report(*arguments: Any, **options: Any) -> SearchResult:
        result = function(*arguments, **options)
        heard.append(result)
        return result

    return search_and_report


def column_values(board: Board, depth: int) -> tuple[int, dict[int, float]]:
    """How deep was searched, `depth` at most, and what each column is worth to the player to move.

    The values are the article's. It stops where the next depth would take too long.
    """
    started = perf_counter()
    values: dict[int, float] = {}
    reached = 0
    while reached < depth and (perf_counter() - started) * board.geometry.columns < SECONDS:
        reached += 1
        values = {
            column: _value(board.play(column), reached - 1, board.turn) for column in board.legal_moves()
        }
    return reached, values


def _value(board: Board, depth: int, player: int) -> float:
    """The value of a position, which the opponent of `player` is to play, for `player`."""
    if not depth:
        return EVALUATE(board, player)
    return -alpha_beta(board, depth, lambda game, other: -EVALUATE(game, 3 - other)).value


def explain(before: Board, column: int, player: str, depth: int, found: SearchResult | None = None) -> str:
    """The figures of the move `column` of `player` (a name) in the position `before`, in two or three lines.

    `depth` is that of the columns' values; `found` is what the player's own search found.
    """
    reached, values = column_values(before, depth)
    told = "  ".join(f"{column + 1}: {value:g}" for column, value in values.items())
    lines = [f"move {before.ply + 1}, {player}: column {column + 1}", f"values at depth {reached}: {told}"]
    if found:
        lines.append(f"{player} searched {found.depth} deep: value {found.value:g}, {found.nodes} nodes")
    return "\n".join(lines)
