from __future__ import annotations

def first(obs: type) -> int:
    return 0 if obs is int else 1
