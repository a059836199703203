"""Exact play by the fastest means there are: the opening book, the native core, the readable solver."""

from __future__ import annotations

from math import inf

from engine.board import Board
from engine.book import Book
from engine.clock import now
from engine.native.build import NativeError
from engine.native.solver import NativeSolver, Table
from engine.solver import ExactSolver, OutOfTimeError


class Oracle:
    """Exact scores (Pascal Pons', from the side to move) of one size of board.

    Not to be used by two threads at once.

    Attributes:
        solver: for positions past the book; it remembers what it has learnt.
        book: None but for the standard board.
        lacks: why there is no native core; empty if there is one.
        nodes: positions visited by all searches.
    """

    def __init__(
        self, rows: int, columns: int, inarow: int, megabytes: int, book: Book | None = None
    ) -> None:
        self.solver: NativeSolver | ExactSolver
        self.lacks = ""
        try:
            self.solver = NativeSolver(rows, columns, inarow, Table(megabytes))
        except (NativeError, ValueError) as error:
            self.solver = ExactSolver(rows, columns, inarow)
            self.lacks = str(error)
        self.book = book or (Book.load() if (rows, columns, inarow) == (6, 7, 4) else None)
        self.nodes = 0

    def score(self, board: Board, *, deadline: float = inf) -> int:
        """The score of a position whose game is not won (`ValueError`). Raises `OutOfTimeError`."""
        known = self.book.score(board) if self.book else None
        if known is not None:
            return known
        score = self.solver.score(board, deadline=deadline)
        self.nodes += self.solver.nodes
        return score

    def value(self, board: Board, column: int, *, deadline: float = inf) -> int:
        """What a move is worth to the side that makes it. Raises `OutOfTimeError`."""
        child = board.play(column)
        if child.winner:
            return board.geometry.win_score(child.ply)
        return -self.score(child, deadline=deadline)

    def reaches(self, board: Board, column: int, score: int, *, deadline: float = inf) -> bool:
        """Whether a move is worth `score` or more. Raises `OutOfTimeError`."""
        if self.book and board.ply < self.book.plies:
            return self.value(board, column, deadline=deadline) >= score
        reached = self.solver.reaches(board, column, score, deadline=deadline)
        self.nodes += self.solver.nodes
        return reached

    def best_column(self, board: Board, *, deadline: float = inf, leisure: float = inf) -> int:
        """A column with the best score, which is found before `deadline`, or `OutOfTimeError` raised.

        Where the book lists a column it is that one. Else, of several, it is the one after which most of the
        other's replies are mistakes, among those that are compared before `leisure`; of those the one nearest
        the middle.
        """
        listed = self.book.column(board) if self.book else None
        if listed is not None:
            return listed
        columns = from_the_middle(board)
        score = self.score(board, deadline=deadline)
        while len(columns) > 1 and not self.reaches(board, columns[0], score, deadline=deadline):
            columns.pop(0)
        in_book = self.book is not None and board.ply + 2 <= self.book.plies  # replies too: looked up
        return self._hardest_to_meet(board, columns, score, inf if in_book else leisure)

    def _hardest_to_meet(self, board: Board, columns: list[int], score: int, leisure: float) -> int:
        """The column to play of these, the first of which reaches the score."""
        best, most = columns[0], (-1, -1)
        try:
            for column in columns:
                if now() >= leisure:
                    break
                if column == columns[0] or self.reaches(board, column, score, deadline=leisure):
                    found = self._mistakes(board.play(column), leisure)
                    if found > most:
                        best, most = column, found
        except OutOfTimeError:
            pass
        return best

    def _mistakes(self, board: Board, deadline: float) -> tuple[int, int]:
        """How many moves change who wins, or make a draw of a win, and how many are not the best."""
        values = [self.value(board, column, deadline=deadline) for column in board.legal_moves()]
        best = max(values, default=0)
        result = (best > 0) - (best < 0)
        return sum((value > 0) - (value < 0) < result for value in values), sum(v < best for v in values)


def from_the_middle(board: Board) -> list[int]:
    """The legal columns, those in the middle first: more lines run through them."""
    middle = (board.geometry.columns - 1) / 2
    return sorted(board.legal_moves(), key=lambda column: abs(column - middle))
