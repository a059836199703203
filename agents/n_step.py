"""N moves ahead: minimax over the window heuristic, as in Kaggle's lesson.

The choice is the lesson's with its test for the end of a game put right, which missed the wins along one
diagonal: every column that minimax values highest `N_STEPS` moves ahead is one of the best, and one of them
is drawn by lot. The lesson's values do not prefer a win at once to one in a few moves; nor does this agent.

Alpha-beta finds the same columns in less time, one depth after the other, and the native core in still less:
12 steps take it a twentieth of a second. Where the time of a move runs out
first, on a large board or with many steps, the columns are those of the deepest search that was finished;
if none was, every legal column is as good as another.
"""

import random
from math import inf
from typing import Any

from engine.board import Board
from engine.clock import move_deadline, now
from engine.native.search import native_search, weighted_windows
from engine.search import SearchResult, iterative_deepening
from engine.windows import preset, window_evaluation

N_STEPS = 3
PRESET = "lesson_n_step"
NATIVE = True  # search in the native core where there is one: the same columns, hundreds of times as fast

EVALUATE = window_evaluation(preset(PRESET))
CORE_EVALUATE = weighted_windows(preset(PRESET))


def best_columns(board: Board, deadline: float = inf) -> tuple[int, ...]:
    """The columns of highest value `N_STEPS` moves ahead, or as far ahead as was seen by the deadline."""
    if NATIVE and (core := native_search(board, CORE_EVALUATE)):
        return core.iterative_deepening(board, deadline, until=is_deep_enough).best_moves
    return iterative_deepening(board, EVALUATE, deadline, until=is_deep_enough).best_moves


def is_deep_enough(result: SearchResult) -> bool:
    """Whether a search looked `N_STEPS` moves ahead."""
    return result.depth == N_STEPS


def agent(obs: Any, config: Any) -> int:
    """A random one of the best columns."""
    deadline = move_deadline(obs, config, now())
    return random.choice(best_columns(Board.from_kaggle(obs, config), deadline))
