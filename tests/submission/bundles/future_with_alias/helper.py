from __future__ import annotations


def first(obs: Unknown) -> Unknown:
    return obs
