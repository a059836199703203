"""Every form of import, the names of which collide."""
from __future__ import annotations
import math, pkg.inner; import pkg.inner.deep.leaf as value
from pkg import (
    value as first,  # a value
    inner,
)
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from pkg.nowhere import Nothing
if math.pi > 3:
    from pkg.inner.deep import leaf
try:
    from pkg import fast
except ImportError:
    fast = None


class Holder:
    from pkg.inner import value as attribute


def agent(obs: Nothing, config: torch.Tensor):
    from pkg.inner.deep.leaf import up; import pkg.inner.deep as deep
    def nested():
        from pkg import inner as here
        return here.value
    return [
        first, inner.value, value.value, leaf is value, fast, Holder.attribute, up(obs), deep.leaf.value,
        nested(), pkg.inner.deep.leaf.__name__, __name__, agent.__module__, sorted(pkg.__all__),
    ]
