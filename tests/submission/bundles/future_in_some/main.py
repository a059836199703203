from typing import Optional
from dataclasses import dataclass

from strings import Node, chain


@dataclass
class Move:
    column: int = 3
    comment: Optional[str] = None


def agent(obs: int, config: object) -> list:
    return [chain(Node(None, obs)), Move().column, Move(1, "x").comment]
