"""One move ahead: the heuristic of Kaggle's lesson, applied to the board after each of its own moves.

It wins where it can win at once, and looks at no reply: only a three that the opponent has already counts.
"""

import random
from typing import Any

from engine.board import Board
from engine.windows import evaluate_windows, preset

PRESET = "lesson_one_step"

WEIGHTS = preset(PRESET)


def best_columns(board: Board) -> list[int]:
    """The columns after which the heuristic is highest for the player to move; the game must not be over."""
    values = {
        column: evaluate_windows(board.play(column), board.turn, WEIGHTS) for column in board.legal_moves()
    }
    best = max(values.values())
    return [column for column, value in values.items() if value == best]


def agent(obs: Any, config: Any) -> int:
    """A random one of the best columns."""
    return random.choice(best_columns(Board.from_kaggle(obs, config)))
