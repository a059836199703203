"""Window heuristics: every stretch of `inarow` cells in a line is a window, and its discs are its worth.

A window counts for a player when the player has discs in it and the opponent has none. With all of its
cells taken it is a *four*, with one cell empty a *three*, with two a *two*, whatever `inarow` is: on a board
with inarow 5 a four holds five discs. A window without discs counts for nobody, so inarow 2 knows no twos
and inarow 1 neither twos nor threes. Windows run in four directions: up, right, up right and down right. A
window of one cell is counted in each of them, so with inarow 1 every disc makes four fours. Where no line
fits on the board there are no windows, and what is left is the centre.

`count_windows` says this for one kind of window on a grid, as the lessons do. `evaluate_windows` is the
weighted sum of all kinds on a `Board`: the same numbers in a fortieth of the time of a loop over windows
(tests/benchmarks/windows.py). Weights are whole numbers, so values are exact and do not depend on the order
of adding up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from engine.board import Board, Geometry

if TYPE_CHECKING:
    from numpy.typing import NDArray


def count_windows(grid: NDArray[Any], count: int, mark: int, inarow: int) -> int:
    """How many windows hold exactly `count` discs of `mark` and are empty otherwise.

    `grid` has shape (rows, columns), row 0 on top, and holds 0 for an empty cell and the marks 1 and 2:
    `np.reshape(obs.board, (config.rows, config.columns))`. With `count` 0 it counts the empty windows.
    """
    import numpy as np  # here: agents that do not count on grids load in half the time

    rows, columns = grid.shape
    length = inarow - 1
    # A disc of the opponent outweighs all others of its window, whose sum is then below 0.
    cells = np.where(grid == mark, 1, np.where(grid == 0, 0, -inarow))
    found = 0
    for down, right, seen in ((1, 0, cells), (0, 1, cells), (1, 1, cells), (1, 1, cells[::-1])):
        height, width = rows - down * length, columns - right * length
        if height > 0 and width > 0:
            discs = sum(
                seen[down * i : down * i + height, right * i : right * i + width] for i in range(inarow)
            )
            found += int(np.count_nonzero(discs == count))
    return found


@dataclass(frozen=True, slots=True)
class Weights:
    """What a window heuristic gives for what it finds, from the view of one player.

    Attributes:
        four, three, two: for each such window of the player.
        other_four, other_three, other_two: for each such window of the opponent, usually negative.
        centre: for each disc of the player in the middle column; in either of the two middle columns where
            the number of columns is even, so that a mirrored board has the same value.
        terminal: values of a game that is won, drawn and lost, in place of all the rest; None leaves ended
            games to the windows. Only `window_evaluation` looks at it.
    """

    four: int = 0
    three: int = 0
    two: int = 0
    other_four: int = 0
    other_three: int = 0
    other_two: int = 0
    centre: int = 0
    terminal: tuple[int, int, int] | None = None


# Kaggle Learn, "Intro to Game AI": lesson 2, one-step lookahead, and lesson 3, N-step lookahead.
LESSON_ONE_STEP = Weights(four=1_000_000, three=1, other_three=-100)
LESSON_N_STEP = Weights(four=1_000_000, three=1, other_three=-100, other_four=-10_000)
# "Programming an expert-level Connect Four AI". Evaluating a board that is won, without its terminal values,
# gives +100 for the player's four and nothing for the opponent's.
VIDEO = Weights(four=100, three=5, two=2, other_three=-4, centre=3, terminal=(10**14, 0, -(10**13)))
# "Connect 4 AI", the article. For ended games, of which we have no figures of its own, it takes the video's.
ARTICLE = Weights(four=1000, three=10, two=3, other_three=-7, centre=3, terminal=VIDEO.terminal)
# After "Classic Computer Science Problems", chapter 8: what is good for one is as bad for the other.
NOTEBOOK = Weights(four=1_000_000, three=100, two=1, other_four=-1_000_000, other_three=-100, other_two=-1)

PRESETS = {
    "lesson_one_step": LESSON_ONE_STEP,
    "lesson_n_step": LESSON_N_STEP,
    "video": VIDEO,
    "article": ARTICLE,
    "notebook": NOTEBOOK,
}


def preset(name: str) -> Weights:
    """The preset of a name; raises `ValueError` listing the names there are."""
    if name not in PRESETS:
        raise ValueError(f"no preset {name!r}: there are {', '.join(PRESETS)}")
    return PRESETS[name]


class _WindowTable(NamedTuple):
    """What counting windows needs to know of a size of board; see `evaluate_windows`.

    Attributes:
        gap: bits from the player's fields to the opponent's.
        first, second, others: multipliers that bring the first, second ... cell of every window to the
            bit of its first one; with inarow 1 the second is the first again.
        mine, both: the bits of the windows in the player's four fields, and in all eight.
        centre: the cells of the middle column or columns, as in a bitboard.
    """

    gap: int
    first: int
    second: int
    others: tuple[int, ...]
    mine: int
    both: int
    centre: int


@lru_cache(maxsize=256)
def _window_table(shape: Geometry) -> _WindowTable:
    """The one `_WindowTable` of a size."""
    # No line is longer than the board: one cell more than fits gives no windows, like any longer one.
    length = min(shape.inarow, max(shape.rows, shape.columns) + 1)
    reach = (length - 1) * (shape.stride + 1)  # how far down the last cell of a window is moved
    gap = shape.stride * shape.columns + reach
    cells = [
        sum(1 << 2 * gap * field + reach - i * step for field, step in enumerate(shape.directions))
        for i in range(length)
    ]
    board = sum(shape.full_columns)
    mine = board * cells[0]
    for cell in cells:
        mine &= board * cell
    middle = shape.full_columns[shape.columns // 2] | shape.full_columns[(shape.columns - 1) // 2]
    return _WindowTable(
        gap, cells[0], cells[min(1, length - 1)], tuple(cells[2:]), mine, mine | mine << gap, middle
    )


def evaluate_windows(board: Board, player: int, weights: Weights) -> int:
    """The weighted sum of `player`'s and the opponent's windows and of `player`'s discs in the centre.

    It does not matter whose turn it is, nor whether the game is over: a full line is a four.

    All windows of both players are counted at once. Multiplying a bitboard by a sum of powers of two copies
    it to as many places; the first multiplier makes one copy, called a field, for each direction, the next
    one the same copies, each moved down by one step of its direction, and so on. So in the products the
    cells of a window lie one above the other, at the bit of the window's first cell. The opponent's bitboard
    travels in the same integer, `gap` bits higher, so that every field is followed by the opponent's.
    """
    gap, first, second, others, mine, windows, centre = _window_table(board.geometry)
    own, other = (board.own, board.other) if player == board.turn else (board.other, board.own)
    discs = own | other << gap
    a, b = discs * first, discs * second
    four = a & b  # of the cells looked at all are taken,
    three = taken = a | b  # all but at most one, and at least one,
    two = windows  # all but at most two
    for cell in others:
        a = discs * cell
        two = two & a | three
        three = three & a | four
        four &= a
        taken |= a
    free = windows & ~((taken & mine) << gap | taken >> gap & mine)  # none is the other player's
    three_only = three & free & ~four
    count = (three_only & mine).bit_count()
    value = count * weights.three + (three_only.bit_count() - count) * weights.other_three
    if weights.two or weights.other_two:
        two_only = two & taken & free & ~three
        count = (two_only & mine).bit_count()
        value += count * weights.two + (two_only.bit_count() - count) * weights.other_two
    if four:
        count = (four & mine).bit_count()
        value += count * weights.four + (four.bit_count() - count) * weights.other_four
    return value + (own & centre).bit_count() * weights.centre


def window_evaluation(weights: Weights) -> Callable[[Board, int], int]:
    """The evaluation of a board for a player that a search asks for: windows, and `weights.terminal`."""
    terminal = weights.terminal
    if terminal is None:
        return lambda board, player: evaluate_windows(board, player, weights)
    won, drawn, lost = terminal

    def evaluate(board: Board, player: int) -> int:
        if board.winner:
            return won if board.winner == player else lost
        if board.ply == board.geometry.cells:
            return drawn
        return evaluate_windows(board, player, weights)

    return evaluate
