from __future__ import annotations

def first(obs: int) -> int:
    return 0
