from ..side import SIDE
from .. import pkg_top
from .flat import flat
from ..inner . flat import flat as flatter


def deep(x):
    return [x, SIDE, pkg_top(), flat(), flatter()]
