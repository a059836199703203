"""The rules of ConnectX: discs dropped into columns, `inarow` in a line wins.

A position is two bitboards, one integer for each player. Columns lie side by side, each with one
bit more than it has cells; that highest bit stays 0, so that no line runs from one column into the
next. On the standard board the bits are numbered

     6 13 20 27 34 41 48      <- always 0
     5 12 19 26 33 40 47      top row, row 0 of Kaggle's board
     4 11 18 25 32 39 46
     3 10 17 24 31 38 45
     2  9 16 23 30 37 44
     1  8 15 22 29 36 43
     0  7 14 21 28 35 42      bottom row, row 5 of Kaggle's board

and a step up is 1, to the right 7, and along the diagonals 8 and 6. Python's integers have no
width, so the same few lines serve every board size. (The layout is John Tromp's, of Fhourstones.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Self  # Python 3.10 has none, and a submission may meet it

SYMBOLS = ".XO"
COLOURS = ("#ffffff", "#f2c12e", "#d64545")


class BoardError(ValueError):
    """A board, a cell or a move that the rules do not allow; the message names it."""


class Geometry:
    """What depends on the size of the board alone, worked out once for each size.

    Attributes:
        rows, columns: size in cells, each at least 1.
        inarow: length of a winning line, at least 1; it may exceed the board, which then nobody wins.
        stride: bits from a column to the next, rows + 1.
        directions: bits of a step up, right, up right and down right.
    """

    def __init__(self, rows: int, columns: int, inarow: int) -> None:
        for name, value in (("rows", rows), ("columns", columns), ("inarow", inarow)):
            if value < 1:
                raise BoardError(f"{name} must be at least 1, not {value}")
        self.rows = rows
        self.columns = columns
        self.inarow = inarow
        self.stride = rows + 1
        self.directions = (1, self.stride, self.stride + 1, self.stride - 1)
        self.bottoms = [1 << self.stride * column for column in range(columns)]
        self.tops = [bottom << (rows - 1) for bottom in self.bottoms]
        self.full_columns = [bottom * ((1 << rows) - 1) for bottom in self.bottoms]
        self.cells = rows * columns

    @cached_property
    def lines(self) -> tuple[int, ...]:
        """Every possible winning line as a bitboard; 69 of them on the standard board."""
        length = self.inarow - 1
        steps = ((1, 0), (0, 1), (1, 1), (-1, 1)) if length else ((0, 0),)
        return tuple(
            sum(self.bit(row + up * i, column + right * i) for i in range(self.inarow))
            for up, right in steps
            for column in range(self.columns - right * length)
            for row in range(self.rows)
            if 0 <= row + up * length < self.rows
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are the one `Geometry` of their size as well."""
        return geometry, (self.rows, self.columns, self.inarow)

    def win_score(self, disc: int) -> int:
        """The score of a win with disc number `disc`, from 1: 1 with the last own disc, 2 with the one before
        (P. Pons' scale, http://blog.gamesolver.org).
        """
        return (self.cells + 2 - disc) // 2

    def bit(self, height: int, column: int) -> int:
        """The bit of the cell `height` cells above the bottom of `column`."""
        return self.bottoms[column] << height

    def has_line(self, discs: int) -> bool:
        """Whether one player's `discs` hold a full line. Each shift doubles the length looked at."""
        for direction in self.directions:
            found, length = discs, 1
            while found and length < self.inarow:
                step = min(length, self.inarow - length)
                found &= found >> step * direction
                length += step
            if found:
                return True
        return False


@cache
def geometry(rows: int, columns: int, inarow: int) -> Geometry:
    """The one `Geometry` of a size, shared by all its boards."""
    return Geometry(rows, columns, inarow)


class Board:
    """A position. Boards do not change: `play` returns the next one.

    Attributes:
        geometry: the size and what follows from it.
        own, other: bitboards of the player to move and of the opponent.
        turn: mark of the player to move, 1 or 2; it stays so at the end of a game.
        ply: how many discs are on the board.
        winner: mark of the player who has a line, 0 while nobody has.
        last: column of the move that led here, None where it is not known.

    Two boards are equal when size, discs and turn are; how they came about does not matter.
    """

    __slots__ = ("geometry", "last", "other", "own", "ply", "turn", "winner")

    def __init__(self, rows: int = 6, columns: int = 7, inarow: int = 4) -> None:
        self.geometry = geometry(rows, columns, inarow)
        self.own = self.other = self.ply = self.winner = 0
        self.turn = 1
        self.last: int | None = None

    @classmethod
    def from_moves(cls, moves: str | Iterable[int], rows: int = 6, columns: int = 7, inarow: int = 4) -> Self:
        """The position after `moves`: a move string (see `parse_moves`) or 0-based columns.

        Raises `BoardError` naming the first move that cannot be played.
        """
        board = cls(rows, columns, inarow)
        for number, column in enumerate(parse_moves(moves) if isinstance(moves, str) else moves, 1):
            try:
                board = board.play(column)
            except BoardError as error:
                raise BoardError(f"move {number} of {moves!r}: {error}") from None
        return board

    @classmethod
    def from_flat(
        cls, cells: Sequence[int], rows: int = 6, columns: int = 7, inarow: int = 4, turn: int | None = None
    ) -> Self:
        """The position on Kaggle's flat board: `rows * columns` marks 0, 1 or 2, top row first.

        Without `turn` the player with fewer discs moves, player 1 if they have as many. Raises
        `BoardError` for a wrong length, an unknown mark or a disc that hangs in the air.
        """
        board = cls(rows, columns, inarow)
        shape = board.geometry
        if len(cells) != shape.cells:
            raise BoardError(f"a {rows}x{columns} board has {shape.cells} cells, not {len(cells)}")
        discs = [0, 0, 0]
        for column in range(columns):
            for height in range(rows):
                mark = cells[(rows - 1 - height) * columns + column]
                if mark not in (0, 1, 2):
                    raise BoardError(f"cell {mark!r} in column {column + 1}: cells are 0, 1 or 2")
                discs[mark] |= shape.bit(height, column)
        filled = discs[1] | discs[2]
        if filled & ~(filled << 1) & ~sum(shape.bottoms):
            raise BoardError("a disc hangs in the air: row 0 of Kaggle's board is the top row")
        board.turn = turn or (2 if discs[1].bit_count() > discs[2].bit_count() else 1)
        board.own, board.other = discs[board.turn], discs[3 - board.turn]
        board.ply = filled.bit_count()
        board.winner = next((mark for mark in (3 - board.turn, board.turn) if shape.has_line(discs[mark])), 0)
        return board

    @classmethod
    def from_kaggle(cls, obs: Any, config: Any) -> Self:
        """The position an agent is shown: `obs.board` with `obs.mark` to move, sizes from `config`."""
        return cls.from_flat(obs.board, config.rows, config.columns, config.inarow, turn=obs.mark)

    def legal_moves(self) -> list[int]:
        """Columns with room, 0-based from the left; none once the game is won."""
        if self.winner:
            return []
        filled = self.own | self.other
        return [column for column, top in enumerate(self.geometry.tops) if not filled & top]

    def play(self, column: int) -> Self:
        """The position after the player to move drops a disc into `column` (0-based).

        Raises `BoardError` where the rules forbid it.
        """
        shape = self.geometry
        if self.winner:
            raise BoardError(f"the game is over: player {self.winner} has won")
        if not 0 <= column < shape.columns:
            raise BoardError(f"column {column + 1} does not exist: columns are 1 to {shape.columns}")
        filled = self.own | self.other
        if filled & shape.tops[column]:
            raise BoardError(f"column {column + 1} is full")
        # Adding the bottom bit carries past all the discs of the column, to its lowest empty cell.
        mover = self.own | (filled + shape.bottoms[column] & shape.full_columns[column])
        child = object.__new__(type(self))
        child.geometry = shape
        child.own, child.other = self.other, mover
        child.turn = 3 - self.turn
        child.ply = self.ply + 1
        child.winner = self.turn if shape.has_line(mover) else 0
        child.last = column
        return child

    @property
    def is_draw(self) -> bool:
        """Whether the board is full and nobody has won."""
        return not self.winner and self.ply == self.geometry.cells

    @property
    def is_over(self) -> bool:
        """Whether the game has ended, won or drawn."""
        return bool(self.winner) or self.ply == self.geometry.cells

    def discs(self, mark: int) -> int:
        """The bitboard of player `mark`."""
        return self.own if mark == self.turn else self.other

    def cell(self, height: int, column: int) -> int:
        """The mark `height` cells above the bottom of `column`; 0 if the cell is empty."""
        bit = self.geometry.bit(height, column)
        return self.turn if self.own & bit else 3 - self.turn if self.other & bit else 0

    def to_flat(self) -> list[int]:
        """Kaggle's flat board: `rows * columns` marks, top row first."""
        shape = self.geometry
        return [
            self.cell(height, column)
            for height in reversed(range(shape.rows))
            for column in range(shape.columns)
        ]

    def mirror(self) -> Self:
        """The same position with left and right exchanged."""
        shape = self.geometry
        width = shape.stride * (shape.columns - 1)

        def flip(discs: int) -> int:
            return sum(
                (discs & full) >> (shift := shape.stride * column) << width - shift
                for column, full in enumerate(shape.full_columns)
            )

        twin = object.__new__(type(self))
        twin.geometry = shape
        twin.own, twin.other = flip(self.own), flip(self.other)
        twin.turn, twin.ply, twin.winner = self.turn, self.ply, self.winner
        twin.last = None if self.last is None else shape.columns - 1 - self.last
        return twin

    def winning_line(self) -> list[tuple[int, int]]:
        """The cells (height, column) of the winner's lines, from the left; empty while nobody has won."""
        shape = self.geometry
        discs = self.discs(self.winner) if self.winner else 0
        line = 0
        for full in shape.lines:
            if discs & full == full:
                line |= full
        return [(h, c) for c in range(shape.columns) for h in range(shape.rows) if line & shape.bit(h, c)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Board) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[Geometry, int, int, int]:
        return (self.geometry, self.own, self.other, self.turn)

    def __repr__(self) -> str:
        shape = self.geometry
        return f"<Board {shape.rows}x{shape.columns} inarow {shape.inarow}: {self.status()}>"

    def status(self) -> str:
        """One phrase: the ply, and who won, a draw, or who moves."""
        if self.winner:
            return f"ply {self.ply}, {SYMBOLS[self.winner]} has won"
        return f"ply {self.ply}, " + ("draw" if self.is_draw else f"{SYMBOLS[self.turn]} to move")

    def __str__(self) -> str:
        """Rows of `X` (player 1), `O` (player 2) and `.`, under them the column numbers from 1."""
        shape = self.geometry
        width = len(str(shape.columns))
        rows = [
            " ".join(SYMBOLS[self.cell(height, column)].rjust(width) for column in range(shape.columns))
            for height in reversed(range(shape.rows))
        ]
        return "\n".join([*rows, " ".join(str(column + 1).rjust(width) for column in range(shape.columns))])

    def _repr_svg_(self) -> str:
        """The picture Jupyter shows: the last move has a dot, the winning line a thick rim."""
        shape, size = self.geometry, 40
        width, height = shape.columns * size, shape.rows * size
        line = set(self.winning_line())
        last = None if self.last is None else (self._height(self.last) - 1, self.last)
        discs = []
        for cell in ((h, c) for h in range(shape.rows) for c in range(shape.columns)):
            x, y = cell[1] * size + size // 2, height - cell[0] * size - size // 2
            mark = self.cell(*cell)
            rim = ' stroke="#111111" stroke-width="4"' if cell in line else ""
            discs.append(f'<circle cx="{x}" cy="{y}" r="16" fill="{COLOURS[mark]}"{rim}/>')
            if mark:  # the symbol as well: colour alone does not tell everybody the players apart
                discs.append(f'<text x="{x}" y="{y + 5}" fill="#111111">{SYMBOLS[mark]}</text>')
            if cell == last:
                discs.append(f'<circle class="last" cx="{x}" cy="{y + 11}" r="3" fill="#111111"/>')
        numbers = [
            f'<text x="{c * size + size // 2}" y="{height + 15}" fill="#777777">{c + 1}</text>'
            for c in range(shape.columns)
        ]
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height + 20}" '
            f'viewBox="0 0 {width} {height + 20}" role="img" font-family="sans-serif" font-size="13" '
            f'text-anchor="middle"><title>Board at {self.status()}</title>'
            f'<rect width="{width}" height="{height}" rx="6" fill="#2f5fa8"/>'
            + "".join(discs + numbers)
            + "</svg>"
        )

    def _height(self, column: int) -> int:
        """How many discs lie in `column`."""
        return ((self.own | self.other) & self.geometry.full_columns[column]).bit_count()


def parse_moves(text: str) -> list[int]:
    """0-based columns from a move string: digits 1 to 9 (`"4453"`), or numbers with commas (`"10,4"`).

    One number beyond nine needs a comma too: `"12,"` is column 12, `"12"` columns 1 and 2. Raises
    `BoardError` naming what is not a column.
    """
    parts = text.rstrip(",").split(",") if "," in text else list(text)
    for part in parts:
        if not (part.isascii() and part.isdigit() and int(part) > 0):
            raise BoardError(
                f"{part!r} in moves {text!r} is not a column: write 4453, or 10,4,5 past column 9"
            )
    return [int(part) - 1 for part in parts]


def format_moves(moves: Iterable[int]) -> str:
    """The move string of 0-based columns; `parse_moves` undoes it."""
    numbers = [column + 1 for column in moves]
    if all(number <= 9 for number in numbers):
        return "".join(map(str, numbers))
    return ",".join(map(str, numbers)) + ("," if len(numbers) == 1 else "")
