"""Constructions of the language at work across modules."""

import enum
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from machinery import Base, cached, counter, logged, registry, retry, tick

with retry() as attempt:
    for index in range(3):
        if index == 1:
            break
    else:
        index = None

try:
    import numpy as np
except ImportError as error:
    raise SystemExit from error

squares = [y := index + value for value in range(3)]


class Colour(enum.Enum):
    RED = enum.auto()
    BLUE = enum.auto()

    @property
    def next(self):
        return Colour.BLUE if self is Colour.RED else Colour.RED


class Point(NamedTuple):
    x: int = 1
    y: int = 2


@dataclass(order=True)
class Item:
    count: ClassVar[int] = 0
    size: int = 0
    parts: list = field(default_factory=list)


@registry.add
class Child(Base):
    __secret = 3

    def __call__(self):
        return super().__call__() + self.__secret


def walk(n):
    if n:
        yield n
        yield from walk(n - 1)


def kind(value):
    match value:
        case {"a": first, **rest}:
            return [first, rest]
        case [first, *others] if others:
            return others
        case Point(x=x) as whole:
            return [x, len(whole)]
        case _:
            return None


@logged("agent")
@cached
def agent(obs, config):
    tick()
    counts = [counter(), tick(), counter()]
    kinds = [kind({"a": 1, "b": 2}), kind([1, 2, 3]), kind(Point()), kind(0)]
    items = [Item.count, sorted([Item(2), Item(1)])[0].size, Item().parts]
    return [attempt, index, squares, y, Colour.RED.next.name, items, Child()(), list(walk(3)), kinds, counts,
            registry.names, int(np.sum(np.arange(4)))]
