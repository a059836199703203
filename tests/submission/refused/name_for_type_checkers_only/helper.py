from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

def first(obs):
    return 0
