"""Alpha-beta over a window heuristic, to a fixed depth: the agents of the article and of the video.

At the root a win is taken at once. Else one of the columns of highest value `DEPTH` moves ahead is drawn by
lot. Where a search of that depth does not fit into the time of a move, the deepest search that does counts;
where none does, every legal column is as good as another.
"""

import random
from math import inf
from typing import Any

from engine.board import Board
from engine.clock import move_deadline, now
from engine.native.search import native_search, weighted_windows
from engine.search import SearchResult, iterative_deepening, winning_moves
from engine.windows import preset, window_evaluation

DEPTH = 6  # the article's Easy, Medium and Expert are 1, 4 and 6
PRESET = "article"
NATIVE = True  # search in the native core where there is one: the same columns, hundreds of times as fast

EVALUATE = window_evaluation(preset(PRESET))
CORE_EVALUATE = weighted_windows(preset(PRESET))


def best_columns(board: Board, deadline: float = inf) -> tuple[int, ...]:
    """The columns that win at once, or else those of highest value; the game must not be over."""
    wins = winning_moves(board)
    if wins:
        return tuple(wins)
    if NATIVE and (core := native_search(board, CORE_EVALUATE)):
        return core.iterative_deepening(board, deadline, until=is_deep_enough).best_moves
    return iterative_deepening(board, EVALUATE, deadline, until=is_deep_enough, table_size=500_000).best_moves


def is_deep_enough(result: SearchResult) -> bool:
    """Whether a search looked `DEPTH` moves ahead."""
    return result.depth == DEPTH


def agent(obs: Any, config: Any) -> int:
    """A random one of the best columns."""
    deadline = move_deadline(obs, config, now())
    return random.choice(best_columns(Board.from_kaggle(obs, config), deadline))
