from collections.abc import Callable

agent: Callable
