"""The state of the board on the screen: the game, the cursor, the disc that falls, hints and values.

Times are seconds on any clock and are passed in, so that every moment can be looked at. Nothing here draws,
waits or thinks: see `play.drawing`, `play.window` and `play.thinking`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

from engine.board import Board
from play.session import Reason, Session

GRAVITY = 60.0  # cells a second a second
BOUNCE = 0.22  # of the speed at which a disc lands


@dataclass(frozen=True)
class Fall:
    """A disc on its way down: it starts above the board, `cells` above its place."""

    column: int
    height: int
    mark: int
    cells: int
    start: float

    @property
    def end(self) -> float:
        """When it lies still."""
        return self.start + self._down * (1 + 2 * BOUNCE)

    @property
    def _down(self) -> float:
        return sqrt(2 * self.cells / GRAVITY)

    def above(self, now: float) -> float:
        """Cells between the disc and its place: free fall, one bounce, rest."""
        time = max(0.0, now - self.start)
        if time < self._down:
            return self.cells - GRAVITY * time**2 / 2
        time -= self._down
        speed = BOUNCE * GRAVITY * self._down
        return max(0.0, speed * time - GRAVITY * time**2 / 2)


@dataclass(frozen=True)
class Values:
    """What each column is worth to the player to move.

    Attributes:
        scores: for each legal column its value: Pons' score where it is exact, otherwise a heuristic one.
        exact: the columns whose value is proven.
        depth: how many moves ahead the rest was looked at.
    """

    scores: Mapping[int, float]
    exact: frozenset[int]
    depth: int

    @property
    def all_exact(self) -> bool:
        """Whether there is no estimate among them."""
        return self.exact.issuperset(self.scores)

    @property
    def best(self) -> frozenset[int]:
        """The columns of the highest value: proven wins first, proven losses last."""
        ranks = {column: self.rank(column) for column in self.scores}
        highest = max(ranks.values(), default=None)
        return frozenset(column for column, rank in ranks.items() if rank == highest)

    def rank(self, column: int) -> tuple[int, float]:
        """A key to order columns by."""
        score = self.scores[column]
        sign = (score > 0) - (score < 0) if column in self.exact else 0
        return (sign, score)


class Scene:
    """A game on the screen.

    Attributes:
        session: the game.
        people: the marks that a person plays, none if two agents are watched.
        cursor: the column under the hover disc.
        fall: the last disc that fell, None before the first.
        thinking_since: when the agent was asked for the move it thinks about, None if it does not.
        hint: the column proposed to the person, None if none was asked for.
        hint_wanted: whether a hint is being worked out.
        analysis: whether the values of the columns are shown.
        values: those of this position, None until there are some.
        paused: whether watched agents wait.
        notice: at most two lines for the person about the end of the game, such as a record.
    """

    def __init__(self, session: Session[Board], people: frozenset[int]) -> None:
        self.session = session
        self.people = people
        self.cursor = (self.board.geometry.columns - 1) // 2
        self.fall: Fall | None = None
        self.thinking_since: float | None = None
        self.hint: int | None = None
        self.hint_wanted = False
        self.analysis = False
        self.values: Values | None = None
        self.paused = False
        self.notice = ""

    @property
    def board(self) -> Board:
        """The position."""
        return self.session.board

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.session.result is not None

    @property
    def person_to_move(self) -> bool:
        """Whether the game waits for a person."""
        return not self.is_over and self.board.turn in self.people

    @property
    def agent_to_move(self) -> bool:
        """Whether the game waits for an agent, and is not paused."""
        return not self.is_over and not self.paused and self.board.turn not in self.people

    def is_falling(self, now: float) -> bool:
        """Whether the last disc is still on its way."""
        return self.fall is not None and now < self.fall.end

    def move_cursor(self, step: int) -> None:
        """The cursor goes to the next column with room, round the ends."""
        columns, legal = self.board.geometry.columns, self.session.legal_moves
        steps = ((self.cursor + step * distance) % columns for distance in range(1, columns + 1))
        self.cursor = next((column for column in steps if column in legal), self.cursor)

    def point(self, column: int) -> None:
        """The cursor goes to a column with room; elsewhere it stays."""
        if column in self.session.legal_moves:
            self.cursor = column

    def can_drop(self, column: int, now: float) -> bool:
        """Whether a person may drop a disc there now."""
        return self.person_to_move and not self.is_falling(now) and column in self.session.legal_moves

    def drop(self, column: int, now: float) -> None:
        """The player to move drops a disc. Raises `BoardError` where the rules forbid it."""
        board = self.board
        shape = board.geometry
        height = ((board.own | board.other) & shape.full_columns[column]).bit_count()
        self.session.play(column)
        self.fall = Fall(column, height, board.turn, shape.rows - height, now)
        self._new_position()

    def undo(self) -> bool:
        """Back to the person's last turn; one move, and a pause, where two agents are watched."""
        if self.people:
            # After the last disc it is nobody's turn, and the person may have dropped it.
            mark = self.board.turn if self.board.turn in self.people else 3 - self.board.turn
            done = self.session.take_back(mark)
        else:
            done = self.session.undo()
            self.paused = self.paused or done
        if done:
            self.fall = None
            self._new_position()
        return done

    def redo(self) -> bool:
        """Plays what was taken back again, to the person's next turn or the end."""
        done = False
        while self.session.redo():
            done = True
            if not self.people or self.person_to_move:
                break
        if done:
            self.fall = None
            self._new_position()
        return done

    def _new_position(self) -> None:
        self.hint, self.hint_wanted, self.values, self.thinking_since = None, False, None, None
        if self.cursor not in self.session.legal_moves:
            self.move_cursor(1)

    @property
    def headline(self) -> str:
        """How the game ended, in a few words; empty while it goes on."""
        result = self.session.result
        if result is None:
            return ""
        if not result.winner:
            return "A draw"
        winner, loser = self.session.players[result.winner - 1], self.session.players[2 - result.winner]
        if result.reason is Reason.FORFEIT:
            return f"{loser} gave up"
        if result.winner in self.people:
            return "You win!"
        return f"{winner} wins"
