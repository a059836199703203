"""Annotations that could not be evaluated."""

from __future__ import annotations, generator_stop

from dataclasses import dataclass


@dataclass
class Node:
    parent: Node | None
    value: NotDefinedAnywhere


def chain(node: Later) -> list[Never]:
    return [] if node is None else [node.value, *chain(node.parent)]
