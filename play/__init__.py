"""A person against an agent: in a window, in a terminal and in a notebook."""

from play.notebook import notebook

__all__ = ["notebook"]
