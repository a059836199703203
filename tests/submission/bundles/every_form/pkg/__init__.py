"""A package that re-exports."""
__all__ = ["value", "inner"]
from . import inner
from .inner import value as inner_value

value = inner_value + 1
