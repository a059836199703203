from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

@dataclass
class Player:
    name: str
    games: ClassVar[int] = 0

def agent(obs, config):
    return Player("me").games
