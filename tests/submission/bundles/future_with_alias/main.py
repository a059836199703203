from __future__ import annotations as notes; import math

from helper import first


def agent(obs: Unknown, config: Unknown) -> Unknown:
    return [first(obs), math.floor(1.5), notes.optional[0]]
