"""Iterative deepening with quiescence and a table, as deep as the time of a move allows.

The search is the one of `engine.search`. What is here makes it quick, and gives it judgement:

* `Position` keeps what a search asks for most: the cells with which each player would complete a line, and
  what the windows of both are worth. A disc changes only the lines through its cell.
* `candidates` leaves out what is certainly lost: where there is a win at once only that is played, a threat
  is blocked, and no cell below a winning cell of the opponent is filled while there is another one.
* Windows count the more, the fewer discs they lack. An empty cell with which a player would win counts extra
  in the rows that the player can hope for. Nobody wants to play below such a cell, so its column is filled
  last: who begins it, once the others are full, gets its odd rows, counted from the bottom. On the standard
  board that is player 1 (Allis, "A knowledge-based approach of Connect-Four", 1988). Right above a winning
  cell of the opponent it counts nothing, for it will not be reached.
* A won game is worth the more, the fewer discs it took: the quickest win and the longest resistance are best.

Where there is the native core, it makes the same search in a hundredth of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from engine.board import Board, Geometry
from engine.clock import move_deadline, now
from engine.native.search import QUIET_CELLS, CoreEvaluation, native_search
from engine.search import SearchResult, iterative_deepening, quiescence

WIN = 1_000_000  # less a point for every disc on the board; no sum of windows comes near
WINDOWS = (4, 3, 2)  # for windows that lack one, two, three discs
PARITY = 20  # for a winning cell in the right row
TABLE_SIZE = 500_000
NATIVE = True  # search in the native core where there is one


class Tables:
    """What depends on the size of the board alone.

    Attributes:
        lines_through: for the bit of each cell, all lines through it.
        worth: for each number of discs, what a window that holds so many of one player's is worth.
        columns: the cells of each column, the middle ones first.
        bottoms, cells: the lowest cell of all columns, and all cells.
        hoped_for: for each mark, the cells in rows that the player can hope to get.
    """

    def __init__(self, shape: Geometry) -> None:
        self.lines_through: dict[int, list[int]] = {
            shape.bit(height, column): [] for column in range(shape.columns) for height in range(shape.rows)
        }
        for line in shape.lines:
            rest = line
            while rest:
                self.lines_through[rest & -rest].append(line)
                rest &= rest - 1
        self.length = shape.inarow
        self.worth = [0] * (shape.inarow + 1)
        for lacking, worth in enumerate(WINDOWS, 1):
            if lacking < shape.inarow:
                self.worth[shape.inarow - lacking] = worth
        middle = (shape.columns - 1) / 2
        order = sorted(range(shape.columns), key=lambda column: abs(column - middle))
        self.columns = [shape.full_columns[column] for column in order]
        self.bottoms = sum(shape.bottoms)
        self.cells = sum(shape.full_columns)
        odd = sum(self.bottoms << height for height in range(0, shape.rows, 2))
        even = self.cells ^ odd
        first_begins = (shape.cells - shape.rows) % 2 == 0
        self.hoped_for = (0, odd, even) if first_begins else (0, even, odd)


@lru_cache(maxsize=64)
def tables(shape: Geometry) -> Tables:
    """The one `Tables` of a size."""
    return Tables(shape)


class Position:
    """A position for the search. A move is the bit of the cell that the disc falls on.

    Attributes:
        tables: of the size of the board.
        own, other: bitboards of the player to move and of the opponent.
        own_wins, other_wins: the empty cells with which each would complete a line, playable or not.
        worth: of all windows of the player to move, less those of the opponent.
        turn, winner: as in `Board`.
    """

    __slots__ = ("other", "other_wins", "own", "own_wins", "tables", "turn", "winner", "worth")

    def __init__(self, board: Board) -> None:
        self.tables = tables(board.geometry)
        self.own, self.other = board.own, board.other
        self.turn, self.winner = board.turn, board.winner
        self.own_wins, own_worth = self._windows(board.geometry, self.own, self.other)
        self.other_wins, other_worth = self._windows(board.geometry, self.other, self.own)
        self.worth = own_worth - other_worth

    def _windows(self, shape: Geometry, discs: int, others: int) -> tuple[int, int]:
        """The winning cells of the player who has `discs`, and the worth of the player's windows."""
        wins = worth = 0
        for line in shape.lines:
            if not line & others:
                held = line & discs
                worth += self.tables.worth[held.bit_count()]
                if held.bit_count() == shape.inarow - 1:
                    wins |= line ^ held
        return wins, worth

    def playable(self) -> int:
        """The lowest empty cell of every column that has one."""
        return (self.own | self.other) + self.tables.bottoms & self.tables.cells

    def legal_moves(self) -> list[int]:
        """The cells to play on, those in the middle first; none once the game is won."""
        return [] if self.winner else self.in_order(self.playable())

    def in_order(self, cells: int) -> list[int]:
        """The bits of `cells`, of which each column has at most one, those in the middle first."""
        return [cell for column in self.tables.columns if (cell := cells & column)]

    def play(self, move: int) -> Position:
        """The position after a legal move."""
        own, other, table = self.own, self.other, self.tables
        worth, wins, last = self.worth, self.own_wins, table.length - 1
        mine = own | move
        for line in table.lines_through[move]:
            if theirs := line & other:
                if not line & own:  # until now it was the opponent's
                    worth += table.worth[theirs.bit_count()]
            else:
                held = line & mine
                count = held.bit_count()
                worth += table.worth[count] - table.worth[count - 1]
                if count == last:
                    wins |= line ^ held
        child = object.__new__(Position)
        child.tables = table
        child.own, child.other = other, mine
        child.own_wins, child.other_wins = self.other_wins & ~move, wins & ~move
        child.turn = 3 - self.turn
        child.winner = self.turn if self.own_wins & move else 0
        child.worth = -worth
        return child

    def forced(self) -> int:
        """The cell of a move that the position dictates, as in `engine.search.forced_moves`; 0 for none."""
        if self.winner:
            return 0
        playable = self.playable()
        urgent = self.own_wins & playable or self.other_wins & playable
        if not urgent:
            safe = playable & ~(self.other_wins >> 1)
            if safe & safe - 1:  # more than one
                return 0
            urgent = safe or playable
        return urgent & -urgent


def candidates(position: Position) -> list[int]:
    """The moves worth looking at, those in the middle first; none where the game is over."""
    if position.winner:
        return []
    if move := position.forced():
        return [move]
    return position.in_order(position.playable() & ~(position.other_wins >> 1))


def forced_cells(position: Position) -> Sequence[int]:
    """The move that a position dictates, if there is one: what `quiescence` follows."""
    move = position.forced()
    return (move,) if move else ()


def judge(position: Position, player: int) -> int:
    """The evaluation of a position for `player`; the opponent's is minus that."""
    if position.winner:
        value = WIN - (position.own | position.other).bit_count()
        return value if position.winner == player else -value
    value = position.worth
    own, other = position.own_wins, position.other_wins
    if own or other:
        rows = position.tables.hoped_for
        value += PARITY * (own & ~(other << 1) & rows[position.turn]).bit_count()
        value -= PARITY * (other & ~(own << 1) & rows[3 - position.turn]).bit_count()
    return value if position.turn == player else -value


def think(board: Board, deadline: float) -> SearchResult:
    """The deepest search that fits, or that is needed; its moves are bits of cells."""
    position = Position(board)
    is_forced = position.forced() != 0

    def is_settled(result: SearchResult) -> bool:
        """Whether there is no choice, or a win or loss is certain and no quicker one can turn up."""
        discs = WIN - abs(result.value)  # at the end of the game, if it is decided
        return is_forced or (discs <= board.geometry.cells and board.ply + result.depth >= discs)

    if NATIVE and (core := native_search(board, core_evaluation(board.geometry, board.turn))):
        return in_cells(board, core.iterative_deepening(board, deadline, until=is_settled))
    return iterative_deepening(
        position,
        quiescence(judge, forced_cells),
        deadline,
        until=is_settled,
        order=candidates,
        table_size=TABLE_SIZE,
        key=lambda position: (position.own, position.other),
    )


@lru_cache(maxsize=64)
def core_evaluation(shape: Geometry, player: int) -> CoreEvaluation:
    """What the native core has to know of this search to make the same one for `player`."""
    rows, evaluate = tables(shape).hoped_for, quiescence(judge, forced_cells)
    one, two, three = WINDOWS
    return CoreEvaluation(
        lambda board, player: evaluate(Position(board), player),
        own=(0, one, two, three),
        other=(0, -one, -two, -three),
        ends=(WIN, 0, -WIN),
        per_disc=1,
        parity=PARITY,
        hoped=(rows[player], rows[3 - player]),
        quiet=QUIET_CELLS,
        pruned=True,
    )


def in_cells(board: Board, result: SearchResult) -> SearchResult:
    """The result of a search whose moves are columns, its moves now the bits of the cells."""
    line, discs = [], board.own | board.other
    for column in result.principal_variation:
        line.append(landing(board, discs, column))
        discs |= line[-1]
    best = (landing(board, board.own | board.other, column) for column in result.best_moves)
    return replace(result, best_moves=tuple(best), principal_variation=tuple(line))


def landing(board: Board, discs: int, column: int) -> int:
    """The lowest empty cell of a column."""
    shape = board.geometry
    return discs + shape.bottoms[column] & shape.full_columns[column]


def agent(obs: Any, config: Any) -> int:
    """The first column of the principal variation."""
    deadline = move_deadline(obs, config, now())
    board = Board.from_kaggle(obs, config)
    move = think(board, deadline).principal_variation[0]
    return (move.bit_length() - 1) // board.geometry.stride
