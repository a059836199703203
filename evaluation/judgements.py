"""How judged moves are shown: shares in tables, by the number of discs, and the worst of them as boards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import zip_longest
from math import isfinite
from typing import Any

from engine.board import SYMBOLS, Board
from evaluation.analysis import JudgedMove, Tally, sign
from evaluation.positions import CELLS

VALUES = {1: "win", 0: "draw", -1: "loss"}
HEADINGS = ["moves", "best %", "95 %", "value kept %", "95 %", "score lost"]
BESIDE = 2
"""Boards in a row."""
CELL = 4
"""Characters of a board's cell, as wide as the score below it."""


@dataclass(frozen=True)
class Mistake:
    """A move that lost something.

    Attributes:
        where: what it is called, such as `position 17`.
        board: the position before it.
        move: what was played.
    """

    where: str
    board: Board
    move: JudgedMove


def total(tallies: Iterable[Tally]) -> Tally:
    """All tallies in one."""
    return sum(tallies, Tally())


def percent(share: float) -> str:
    """A share (0 to 1) in percent; nan is no share."""
    return f"{100 * share:.1f}" if isfinite(share) else "-"


def milliseconds(seconds: float) -> str:
    """A time in milliseconds, with three digits or more."""
    return f"{1000 * seconds:.3g}" if seconds < 1 else f"{1000 * seconds:.0f}"


def interval(ends: tuple[float, float]) -> str:
    """An interval of shares in percent."""
    return f"{100 * ends[0]:.1f} to {100 * ends[1]:.1f}"


def row(tally: Tally) -> list[str]:
    """The cells below `HEADINGS`."""
    if not tally.moves:
        return ["0", *["-"] * 5]
    return [
        str(tally.moves),
        percent(tally.best_share),
        interval(tally.best_interval),
        percent(tally.kept_share),
        interval(tally.kept_interval),
        f"{tally.mean_lost:.2f}",
    ]


def facts(tally: Tally) -> dict[str, Any]:
    """A tally for JSON."""
    if not tally.moves:
        return {"moves": 0}
    return {
        "moves": tally.moves,
        "best": tally.best_share,
        "best_interval": tally.best_interval,
        "kept": tally.kept_share,
        "kept_interval": tally.kept_interval,
        "lost": tally.mean_lost,
    }


def move_facts(move: JudgedMove) -> dict[str, Any]:
    """A move for JSON."""
    return {
        "ply": move.ply,
        "column": move.column,
        "scores": move.scores,
        "lost": move.lost,
        "keeps_value": move.keeps_value,
    }


def ply_grid(by_ply: Mapping[int, Tally]) -> str:
    """The shares by the number of discs on the standard board, in whole percent: a row a phase."""
    width = CELLS // 3
    lines = ["  discs            " + "".join(f"{f'+{offset}':>{CELL}}" for offset in range(width))]
    for start in range(0, CELLS, width):
        for label, share in (("best %", "best_share"), ("kept %", "kept_share")):
            shares = [getattr(by_ply.get(ply, Tally()), share) for ply in range(start, start + width)]
            numbers = "".join(f"{100 * each:{CELL}.0f}" if isfinite(each) else " " * CELL for each in shares)
            head = f"{start:>5}" if share == "best_share" else " " * 5
            lines.append(f"  {head}    {label:8}{numbers}".rstrip())
    return "\n".join(lines)


def value(score: int) -> str:
    """What a score is: `win 3`, `draw`, `loss -2`."""
    return f"{VALUES[sign(score)]} {score}" if score else VALUES[0]


def swing(move: JudgedMove) -> str:
    """What a move made of the best there was."""
    return f"{value(move.best)} becomes {value(move.score)}"


def worst(mistakes: Iterable[Mistake], count: int) -> list[Mistake]:
    """Those that lost most, the worst first."""
    return nlargest(count, (each for each in mistakes if each.move.lost), key=lambda each: each.move.lost)


def boards(title: str, mistakes: Sequence[Mistake]) -> str:
    """The positions side by side, below them the scores of the columns, the move played and the best ones.

    Nothing where there are none.
    """
    if not mistakes:
        return ""
    blocks = [_board(mistake) for mistake in mistakes]
    lines = [f"  {title}, with the score of every column (^ played, * best)"]
    for start in range(0, len(blocks), BESIDE):
        beside = blocks[start : start + BESIDE]
        width = max(len(line) for block in beside for line in block)
        lines.append("")
        lines += [
            "  " + "    ".join(f"{each:{width}}" for each in line).rstrip() for line in _transposed(beside)
        ]
    return "\n".join(lines)


def _transposed(blocks: Sequence[Sequence[str]]) -> Iterable[Sequence[str]]:
    return zip_longest(*blocks, fillvalue="")


def _board(mistake: Mistake) -> list[str]:
    """The lines of a position."""
    board, move = mistake.board, mistake.move
    shape = board.geometry
    columns = range(shape.columns)
    rows = [[SYMBOLS[board.cell(height, column)] for column in columns] for height in range(shape.rows)]
    scores = ["." if score is None else str(score) for score in move.scores]
    marks = [
        "^" if column == move.column else "*" if move.scores[column] == move.best else ""
        for column in columns
    ]
    numbers = [str(column + 1) for column in columns]
    return [
        f"{mistake.where}, {board.ply} discs",
        *(_line(cells) for cells in [*reversed(rows), numbers, scores, marks]),
        f"{SYMBOLS[board.turn]} plays {move.column + 1}: {swing(move)}",
    ]


def _line(cells: Iterable[str]) -> str:
    return "".join(f"{cell:>{CELL}}" for cell in cells)
