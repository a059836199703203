"""Decorators, a context manager, a counter of its own, a class to inherit from."""

import contextlib
import functools
import numpy as np

state = np.zeros(1)
ticks = 0


class Registry:
    def __init__(self):
        self.names = []

    def add(self, cls):
        self.names.append(cls.__name__)
        return cls


registry = Registry()


class Base:
    def __call__(self):
        return 1


def tick():
    global ticks
    ticks += 1
    return ticks


def counter():
    return ticks


cached = functools.lru_cache(maxsize=None)


def logged(name):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(obs, config):
            result = function(obs, config)
            return [name, obs, *result]

        return wrapper

    return decorate


@contextlib.contextmanager
def retry():
    yield "tried"
