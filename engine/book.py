"""The opening book: the exact score of every standard position of the first plies, in microseconds.

The search takes long where little is played: seconds for the empty board, milliseconds after a dozen plies.
So the scores of the first plies are kept, without the positions: a position's place follows from itself. The
heights of the columns say which block of the list it is in (mirror images share one), the colours of its
discs which entry of the block, by the combinatorial number system (D. E. Knuth, "The Art of Computer
Programming", 7.2.1.3). Only some plies are kept; the scores between follow from those after them.

Some positions of the last ply and of those after it take the search long all the same: which column reaches
the score, or the score itself. They are listed with a best column, from whatever game in some plies, named by
their place; later where perfect play leads to them, named by their bits. `engine.book_build` makes the book.
"""

from __future__ import annotations

import lzma
import struct
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from math import comb
from typing import TYPE_CHECKING

from engine.board import Board
from engine.resources import data

if TYPE_CHECKING:
    from typing import Self  # Python 3.10 has none, and a submission may meet it

BOOK_SHAPE = Board().geometry
BOOK_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9, "lc": 3, "lp": 0, "pb": 0}]
BOOK_HEAD = struct.Struct("<BI")
SCORE_OFFSET = 32  # scores are kept as bytes
NAME_BYTES = 8  # of a listed position
LISTED_BYTES = NAME_BYTES + 1  # and its column


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
    return _place(board)[0]


def _place(board: Board) -> tuple[int, bool]:
    """The entry of a position, and whether it is the one of its mirror image."""
    filled = board.own | board.other
    heights = tuple((filled & column).bit_count() for column in BOOK_SHAPE.full_columns)
    mirrored = heights[::-1]
    block = book_blocks(board.ply)[min(heights, mirrored)]
    if heights == mirrored:
        colours, turned = _colours(board), _colours(board.mirror())
        return block + min(colours, turned), turned < colours
    turn = heights > mirrored
    return block + _colours(board.mirror() if turn else board), turn


def book_key(board: Board) -> int:
    """A number of 49 bits that no other position of its ply has."""
    return board.own + (board.own | board.other)


def common_key(board: Board) -> int:
    """The smaller key of a position and its mirror image."""
    return min(book_key(board), book_key(board.mirror()))


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


def _as_bytes(listed: dict[int, int]) -> bytes:
    """Sorted, the steps from one name to the next, all their first bytes before all their second; columns."""
    names = sorted(listed)
    steps = [name - before for before, name in zip([0, *names], names, strict=False)]
    together = struct.pack(f"<{len(steps)}Q", *steps)
    apart = [together[start::NAME_BYTES] for start in range(NAME_BYTES)]
    return b"".join([*apart, bytes(listed[name] for name in names)])


def _listed(part: bytes) -> dict[int, int]:
    """The columns that `_as_bytes` wrote, by the names of their positions."""
    count = len(part) // LISTED_BYTES
    together = bytearray(count * NAME_BYTES)
    for start in range(NAME_BYTES):
        together[start::NAME_BYTES] = part[start * count : (start + 1) * count]
    steps = struct.unpack(f"<{count}Q", together)
    return dict(zip(accumulate(steps), part[count * NAME_BYTES :], strict=True))


class Book:
    """Exact scores (Pascal Pons', from the side to move) of the standard board's first plies.

    Attributes:
        plies: the last ply it holds.
        layers: the kept scores, by ply.
        answers: by ply, best columns of positions that take long to solve, by their entry (see `book_index`).
        columns: the same for some positions of other plies, by their key (see `book_key`).
    """

    def __init__(
        self,
        layers: dict[int, bytes],
        answers: dict[int, dict[int, int]] | None = None,
        columns: dict[int, int] | None = None,
    ) -> None:
        self.layers = layers
        self.answers = answers or {}
        self.columns = columns or {}
        self.plies = max(layers)

    @classmethod
    def load(cls) -> Self:
        """The book that comes with the kit."""
        return cls.unpack(data("book.bin"))

    @classmethod
    def unpack(cls, packed: bytes) -> Self:
        """The book from its file. Raises `ValueError` for other bytes.

        How many plies have scores and how many answers; of each the ply and how many, in 4 bytes; then,
        compressed, all these, and the columns.
        """
        try:
            layers, answers = packed[:2]
            start = 2 + BOOK_HEAD.size * (layers + answers)
            unpacked = lzma.decompress(packed[start:], lzma.FORMAT_RAW, filters=BOOK_FILTERS)
            heads = list(BOOK_HEAD.iter_unpack(packed[2:start]))
        except (lzma.LZMAError, struct.error) as error:
            raise ValueError(str(error)) from None
        sizes = [count * (1 if number < layers else LISTED_BYTES) for number, (_, count) in enumerate(heads)]
        *ends, last = accumulate(sizes, initial=0)
        if not layers or len(unpacked) < last or (len(unpacked) - last) % LISTED_BYTES:
            raise ValueError("its length is wrong")
        parts = [
            (ply, unpacked[end : end + size]) for (ply, _), end, size in zip(heads, ends, sizes, strict=True)
        ]
        return cls(
            dict(parts[:layers]),
            {ply: _listed(part) for ply, part in parts[layers:]},
            _listed(unpacked[last:]),
        )

    def pack(self) -> bytes:
        """The bytes of its file."""
        heads = [(ply, len(part)) for part_of in (self.layers, self.answers) for ply, part in part_of.items()]
        listed = [_as_bytes(columns) for columns in (*self.answers.values(), self.columns)]
        unpacked = b"".join([*self.layers.values(), *listed])
        packed = lzma.compress(unpacked, lzma.FORMAT_RAW, filters=BOOK_FILTERS)
        start = bytes([len(self.layers), len(self.answers)])
        return start + b"".join(BOOK_HEAD.pack(*head) for head in heads) + packed

    def column(self, board: Board) -> int | None:
        """A best column of a standard position that takes long to solve; None for others."""
        listed, name, mirrored = self._listing(board)
        column = listed.get(name)
        return BOOK_SHAPE.columns - 1 - column if mirrored and column is not None else column

    def list_column(self, board: Board, column: int) -> None:
        """Adds a best column of a position."""
        listed, name, mirrored = self._listing(board)
        listed[name] = BOOK_SHAPE.columns - 1 - column if mirrored else column

    def _listing(self, board: Board) -> tuple[dict[int, int], int, bool]:
        """Where a position's column is listed, under which name, and whether it is its mirror image's."""
        if board.ply in self.answers:
            return self.answers[board.ply], *_place(board)
        key, turned = book_key(board), book_key(board.mirror())
        return self.columns, min(key, turned), turned < key

    def score(self, board: Board) -> int | None:
        """The score of a legal standard position; None past the book and where the game is over."""
        if board.ply > self.plies or board.winner or board.geometry is not BOOK_SHAPE:
            return None
        if board.ply in self.layers:
            return self.layers[board.ply][book_index(board)] - SCORE_OFFSET
        return max(self.value(board, column) for column in board.legal_moves())

    def value(self, board: Board, column: int) -> int:
        """What a legal move in a position before its last ply is worth to the side that makes it."""
        child = board.play(column)
        if child.winner:
            return BOOK_SHAPE.win_score(child.ply)
        score = self.score(child)
        assert score is not None
        return -score
