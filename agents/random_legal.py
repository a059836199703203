"""Any column with room, drawn by lot: what every other agent should beat."""

import random
from typing import Any


def agent(obs: Any, config: Any) -> int:
    """A random legal column; the first `config.columns` cells of the board are its top row."""
    return random.choice([column for column in range(config.columns) if obs.board[column] == 0])
