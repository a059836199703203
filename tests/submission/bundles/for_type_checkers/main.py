from __future__ import annotations

import typing as t
from typing import TYPE_CHECKING as CHECKING

from helper import first

if CHECKING:
    import torch
    from missing import Nothing
    from pathlib import Path
    from unused import Unused
if t.TYPE_CHECKING:
    from .somewhere import (
        Else,
    )

    Both = t.Union[Path, Else]
else:
    Both = 5
if CHECKING: from unused import second


def agent(obs: Unused, config: torch.Tensor) -> Nothing:
    result: Path = first(obs)
    return [result, Both]
