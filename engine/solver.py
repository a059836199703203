"""The exact value of a position, in Python to be read: the oracle of the native core (engine/native).

Scores are Pascal Pons': from the side to move, 0 is a draw; positive a win, 1 with the last own disc, 2 with
the one before, and so on; negative a loss likewise. So the largest score is the quickest win, and the least
negative one the longest resistance.

The method is the field's usual one (Pons, "Solving Connect 4: how to build a perfect AI", 2019): negamax with
null windows over bitboards, moves that lose at once left out, moves ordered by the winning cells they create,
a transposition table of upper bounds. Positions with fewer than about 20 empty cells take milliseconds.
"""

from __future__ import annotations

from engine.board import Board, Geometry


def winning_cells(shape: Geometry, discs: int) -> int:
    """Cells that would complete a line of `discs`, also such as are taken or outside the board."""
    cells = 0
    for direction in shape.directions:
        for below in range(shape.inarow):  # discs of the line on the near side of the cell
            line = -1
            for i in range(shape.inarow):
                if i < below:
                    line &= discs << direction * (below - i)
                elif i > below:
                    line &= discs >> direction * (i - below)
            cells |= line
    return cells


class ExactSolver:
    """Solves positions of one size of board, and remembers what it has learnt from one to the next."""

    def __init__(self, rows: int = 6, columns: int = 7, inarow: int = 4) -> None:
        self.shape = Board(rows, columns, inarow).geometry
        self.bottoms = sum(self.shape.bottoms)
        self.board = sum(self.shape.full_columns)
        middle = (columns - 1) / 2
        # The middle columns first: more lines run through them.
        self.columns = [
            self.shape.full_columns[column]
            for column in sorted(range(columns), key=lambda column: abs(column - middle))
        ]
        self.upper_bounds: dict[tuple[int, int], int] = {}
        self.nodes = 0

    def score(self, board: Board) -> int:
        """The score of a position whose game is not won; 0 on a full board. Raises `ValueError`."""
        if board.winner:
            raise ValueError("the game is over: only positions to play on have a score")
        if board.is_draw:
            return 0
        cells, ply = self.shape.cells, board.ply
        if winning_cells(self.shape, board.own) & self.playable(board.own, board.other):
            return (cells + 1 - ply) // 2
        low, high = -((cells - ply) // 2), (cells - 1 - ply) // 2
        while low < high:
            # Halve the interval, but look near 0 first: narrow wins and losses are the hardest to tell apart.
            middle = (low + high) // 2
            if middle <= 0 and low // 2 < middle:
                middle = low // 2
            elif middle >= 0 and high // 2 > middle:
                middle = high // 2
            value = self.search(board.own, board.other, ply, middle, middle + 1)
            if value <= middle:
                high = value
            else:
                low = value
        return low

    def column_scores(self, board: Board) -> list[int | None]:
        """The score of every column for the side to move; None where there is no legal move."""
        scores: list[int | None] = [None] * self.shape.columns
        for column in board.legal_moves():
            child = board.play(column)
            won = (self.shape.cells + 1 - board.ply) // 2
            scores[column] = won if child.winner else -self.score(child)
        return scores

    def principal_variation(self, board: Board) -> list[int]:
        """Best play of both sides to the end, 0-based; of equally good columns the leftmost."""
        line = []
        while moves := board.legal_moves():
            scores = self.column_scores(board)
            line.append(max(moves, key=lambda column: scores[column] or 0))
            board = board.play(line[-1])
        return line

    def playable(self, own: int, other: int) -> int:
        """The lowest empty cell of every column that has one."""
        return (own | other) + self.bottoms & self.board

    def search(self, own: int, other: int, ply: int, alpha: int, beta: int) -> int:
        """The score s of a position in which nobody has a line and the side to move cannot win at once.

        Returns r with r <= alpha only if s <= r, r >= beta only if s >= r, and r = s in between.
        """
        self.nodes += 1
        cells = self.shape.cells
        playable = self.playable(own, other)
        threats = winning_cells(self.shape, other) & self.board & ~(own | other)
        forced = threats & playable
        moves = (forced or playable) & ~(threats >> 1)
        if forced & forced - 1 or not moves:
            return -((cells - ply) // 2)  # the opponent wins with the next disc
        if ply >= cells - 2:
            return 0
        key = (own, other)
        alpha = max(alpha, -((cells - 2 - ply) // 2))
        beta = min(beta, self.upper_bounds.get(key, (cells - 1 - ply) // 2))
        if alpha >= beta:
            return beta
        for move in self.ordered(moves, own, own | other):
            value = -self.search(other, own | move, ply + 1, -beta, -alpha)
            if value >= beta:
                return value
            alpha = max(alpha, value)
        self.upper_bounds[key] = alpha
        return alpha

    def ordered(self, moves: int, own: int, taken: int) -> list[int]:
        """The cells of `moves`, one bit each: the most winning cells created first, then the middle first."""
        free = self.board & ~taken
        found = [cell for column in self.columns if (cell := moves & column)]
        return sorted(found, key=lambda cell: -(winning_cells(self.shape, own | cell) & free).bit_count())
