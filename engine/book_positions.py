"""The positions a book is about: all of a ply, the next ones, and those that the book's names stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import comb
from operator import itemgetter

from engine.board import Board, format_moves
from engine.book import BOOK_SHAPE, book_blocks, common_key


def positions(plies: int) -> list[str]:
    """A move string to every position after `plies` moves whose game goes on, mirror images taken as one.

    In the order of the strings. After 8 plies there are 91,295, after 9 269,531.
    """
    names = [""]
    for _ in range(plies):
        names = children(names)
    return names


def children(names: Iterable[str], chosen: Mapping[str, Iterable[int]] | None = None) -> list[str]:
    """The positions one move later whose game goes on, of mirror images one, in order of their strings.

    `chosen` limits the moves to some 0-based columns.
    """
    found: dict[int, str] = {}
    for moves in names:
        board = Board.from_moves(moves)
        for column in chosen[moves] if chosen else board.legal_moves():
            child = board.play(column)
            if not child.is_over:
                found.setdefault(common_key(child), moves + format_moves([column]))
    return sorted(found.values())


def board_of_key(key: int) -> Board:
    """The position that has this `engine.book.book_key`."""
    filled = 0
    for column, cells in enumerate(BOOK_SHAPE.full_columns):
        of_column = key >> column * BOOK_SHAPE.stride & 2**BOOK_SHAPE.stride - 1
        height = (of_column + 1).bit_length() - 1
        filled |= cells & (2**height - 1) << column * BOOK_SHAPE.stride
    return _board(key - filled, filled)


def board_at(ply: int, index: int) -> Board:
    """The position that has this `engine.book.book_index`."""
    blocks = book_blocks(ply)
    heights, start = max((item for item in blocks.items() if item[1] <= index), key=itemgetter(1))
    discs = [BOOK_SHAPE.bit(row, column) for column, height in enumerate(heights) for row in range(height)]
    own, number = 0, index - start
    for chosen in range(ply // 2, 0, -1):
        place = max(place for place in range(ply) if comb(place, chosen) <= number)
        own |= discs[place]
        number -= comb(place, chosen)
    return _board(own, sum(discs))


def _board(own: int, filled: int) -> Board:
    flat = [
        0 if not filled & bit else 1 if own & bit else 2
        for row in range(BOOK_SHAPE.rows - 1, -1, -1)
        for bit in (BOOK_SHAPE.bit(row, column) for column in range(BOOK_SHAPE.columns))
    ]
    turn = 1 + filled.bit_count() % 2
    return Board.from_flat([cell and (cell if turn == 1 else 3 - cell) for cell in flat], turn=turn)
