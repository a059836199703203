"""A package with something in it."""

BASE = 1000

from .top import top as pkg_top
