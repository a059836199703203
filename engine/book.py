"""The opening book: the exact score of every standard position of the first plies, in microseconds.

The search takes long where little is played: seconds for the empty board, milliseconds after a dozen plies.
So the scores of the first plies are kept, without the positions: a position's place follows from itself. The
heights of the columns say which block of the list it is in (mirror images share one), the colours of its
discs which entry of the block, by the combinatorial number system (D. E. Knuth, "The Art of Computer
Programming", 7.2.1.3). Only some plies are kept; the scores between follow from those after them.

A few later positions take the search long as well. Those that perfect play leads to are listed with a best
column. `engine.book_build` makes the book.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from math import comb
from struct import pack, unpack
from typing import TYPE_CHECKING

from engine.board import Board
from engine.resources import data

if TYPE_CHECKING:
    from typing import Self  # Python 3.10 has none, and a submission may meet it

BOOK_SHAPE = Board().geometry
BOOK_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9, "lc": 3, "lp": 0, "pb": 0}]
SCORE_OFFSET = 32  # scores are kept as bytes


def book_heights(ply: int, columns: int = BOOK_SHAPE.columns) -> Iterator[tuple[int, ...]]:
    """How high the columns can be after `ply` plies, in order."""
    if columns == 1:
        if ply <= BOOK_SHAPE.rows:
            yield (ply,)
        return
    for first in range(min(ply, BOOK_SHAPE.rows) + 1):
        yield from ((first, *rest) for rest in book_heights(ply - first, columns - 1))


@cache
def book_blocks(ply: int) -> dict[tuple[int, ...], int]:
    """Where the block of each set of heights begins; of two mirror images the smaller one has it."""
    size = comb(ply, ply // 2)
    kept = (heights for heights in book_heights(ply) if heights <= heights[::-1])
    return {heights: size * number for number, heights in enumerate(kept)}


def book_size(ply: int) -> int:
    """The number of entries of a ply, with those that no game reaches."""
    return len(book_blocks(ply)) * comb(ply, ply // 2)


def book_index(board: Board) -> int:
    """The entry of a position among those of its ply."""
    filled = board.own | board.other
    heights = tuple((filled & column).bit_count() for column in BOOK_SHAPE.full_columns)
    mirrored = heights[::-1]
    if heights < mirrored:
        return book_blocks(board.ply)[heights] + _colours(board)
    if heights > mirrored:
        return book_blocks(board.ply)[mirrored] + _colours(board.mirror())
    return book_blocks(board.ply)[heights] + min(_colours(board), _colours(board.mirror()))


def book_key(board: Board) -> int:
    """A number of 49 bits that no other position of its ply has."""
    return board.own + (board.own | board.other)


def _colours(board: Board) -> int:
    """Which of the ways to choose the own discs among all discs this is: column by column, from below."""
    filled, own = board.own | board.other, board.own
    number = chosen = 0
    while own:
        disc = own & -own
        own ^= disc
        chosen += 1
        number += comb((filled & (disc - 1)).bit_count(), chosen)
    return number


class Book:
    """Exact scores (Pascal Pons', from the side to move) of the standard board's first plies.

    Attributes:
        plies: the last ply it holds.
        layers: the kept scores, by ply.
        columns: a best column for positions that take long to solve, by their key (see `book_key`).
    """

    def __init__(self, layers: dict[int, bytes], columns: dict[int, int] | None = None) -> None:
        self.layers = layers
        self.columns = columns or {}
        self.plies = max(layers)

    @classmethod
    def load(cls) -> Self:
        """The book that comes with the kit."""
        return cls.unpack(data("book.bin"))

    @classmethod
    def unpack(cls, packed: bytes) -> Self:
        """The book from its file. Raises `ValueError` for other bytes.

        A byte that counts the kept plies, these, and compressed the scores of these plies and the columns:
        sorted, the steps of key * 8 + column from one to the next, 8 bytes each.
        """
        kept = packed[1 : 1 + packed[0]] if packed else b""
        try:
            unpacked = lzma.decompress(packed[1 + len(kept) :], lzma.FORMAT_RAW, filters=BOOK_FILTERS)
        except lzma.LZMAError as error:
            raise ValueError(str(error)) from None
        ends = list(accumulate(map(book_size, kept)))
        if not kept or len(unpacked) < ends[-1] or (len(unpacked) - ends[-1]) % 8:
            raise ValueError("its length is wrong")
        layers = {ply: unpacked[end - book_size(ply) : end] for ply, end in zip(kept, ends, strict=True)}
        steps = unpack(f"<{(len(unpacked) - ends[-1]) // 8}Q", unpacked[ends[-1] :])
        return cls(layers, {entry >> 3: entry & 7 for entry in accumulate(steps)})

    def pack(self) -> bytes:
        """The bytes of its file."""
        entries = sorted(key << 3 | column for key, column in self.columns.items())
        steps = [entry - before for before, entry in zip([0, *entries], entries, strict=False)]
        unpacked = b"".join(self.layers.values()) + pack(f"<{len(steps)}Q", *steps)
        packed = lzma.compress(unpacked, lzma.FORMAT_RAW, filters=BOOK_FILTERS)
        return bytes([len(self.layers), *self.layers]) + packed

    def column(self, board: Board) -> int | None:
        """A best column of a standard position that takes long to solve; None for others."""
        key, mirrored = book_key(board), book_key(board.mirror())
        column = self.columns.get(min(key, mirrored))
        return column if column is None or key <= mirrored else BOOK_SHAPE.columns - 1 - column

    def list_column(self, board: Board, column: int) -> None:
        """Adds a best column of a position."""
        key, mirrored = book_key(board), book_key(board.mirror())
        self.columns[min(key, mirrored)] = column if key <= mirrored else BOOK_SHAPE.columns - 1 - column

    def score(self, board: Board) -> int | None:
        """The score of a legal standard position; None past the book and where the game is over."""
        if board.ply > self.plies or board.winner or board.geometry is not BOOK_SHAPE:
            return None
        if board.ply in self.layers:
            return self.layers[board.ply][book_index(board)] - SCORE_OFFSET
        return max(self._after(board, column) for column in board.legal_moves())

    def _after(self, board: Board, column: int) -> int:
        """The score of a move, for the side that makes it."""
        child = board.play(column)
        if child.winner:
            return (BOOK_SHAPE.cells + 1 - board.ply) // 2
        score = self.score(child)
        assert score is not None
        return -score
