"""Tic-tac-toe, the smallest game on the kit's search, and the example of how to add one.

A game needs two things, and `engine.search` does the rest:

1. A class for its positions with `turn`, `winner`, `legal_moves()` and `play(move)` (the protocol `Game`).
   Players are 1 and 2, moves are integers, and `play` returns a new position.
2. An evaluation: a function of a position and a player, the higher the better for that player. It has to
   value won and drawn games; here it values nothing else, because the search reaches every end.

    >>> from engine.search import alpha_beta
    >>> game = TicTacToe().play(0).play(4).play(1)
    >>> print(game)
    X X 2
    3 O 5
    6 7 8
    >>> result = alpha_beta(game, 9, evaluate_tictactoe)
    >>> result.best_moves  # O has to block
    (2,)
    >>> result.value  # and holds the draw
    0.0

A game may add a list of the moves its positions dictate (`forced` of `quiescence`) and an order of moves that
puts good ones first (`order` of `iterative_deepening`): both make a search faster, neither is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

THREES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


@dataclass(frozen=True)
class TicTacToe:
    """A position. Cells and moves are numbered 0 to 8 from the top left, row by row.

    Attributes:
        cells: nine marks, 0 for an empty cell.
        turn: mark of the player to move, 1 (X) or 2 (O).
        winner: mark of the player who has a line, 0 while nobody has.
    """

    cells: tuple[int, ...] = (0,) * 9
    turn: int = 1
    winner: int = 0

    def legal_moves(self) -> list[int]:
        """The empty cells; none once the game is won."""
        return [] if self.winner else [move for move, mark in enumerate(self.cells) if not mark]

    def play(self, move: int) -> TicTacToe:
        """The position after the player to move marks a cell. Raises `ValueError` for an illegal move."""
        if move not in self.legal_moves():
            raise ValueError(f"move {move} is not legal here:\n{self}")
        cells = (*self.cells[:move], self.turn, *self.cells[move + 1 :])
        won = any(all(cells[cell] == self.turn for cell in line) for line in THREES)
        return TicTacToe(cells, 3 - self.turn, self.turn if won else 0)

    def __str__(self) -> str:
        """Three rows: `X`, `O`, and the number of every empty cell."""
        marks = ["XO"[mark - 1] if mark else str(cell) for cell, mark in enumerate(self.cells)]
        return "\n".join(" ".join(marks[row : row + 3]) for row in (0, 3, 6))


def evaluate_tictactoe(game: TicTacToe, player: int) -> float:
    """A win is worth 1 and one more for every empty cell, so that the quickest is best; a loss minus that."""
    if not game.winner:
        return 0.0
    worth = 1.0 + game.cells.count(0)
    return worth if game.winner == player else -worth
