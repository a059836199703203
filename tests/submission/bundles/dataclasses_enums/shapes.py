from dataclasses import dataclass


@dataclass(frozen=True)
class Base:
    size: int = 1
