from __future__ import annotations
import helper
from dataclasses import dataclass

def agent(obs, config):
    @dataclass
    class Move:
        column: int
    return Move(helper.one).column
