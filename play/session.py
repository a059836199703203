"""The state of a game between people and agents: what has been played, by whom, and how it stands.

No drawing, no clock and no threads: a window, a terminal and a notebook each show the same `Session`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Generic

from engine.board import Board, BoardError
from engine.search import G
from evaluation.errors import InputError
from evaluation.records import OVERAGE_SECONDS
from evaluation.referee import Agent, configuration, fresh


class Reason(StrEnum):
    """Why a game ended."""

    LINE = "line"
    FULL = "full"  # nobody has won: a draw
    RESIGNED = "resigned"
    FORFEIT = "forfeit"  # an agent gave no legal move


@dataclass(frozen=True)
class Outcome:
    """How a game ended: `winner` is a mark, 0 for a draw."""

    winner: int
    reason: Reason


class AgentError(Exception):
    """An agent gave no legal move; the message is one line."""


class Session(Generic[G]):
    """A game from its start, with what was taken back.

    It serves any game of `engine.search`; records and hints are for boards only.

    Attributes:
        board: the position now.
        moves: the moves from the start to it, 0-based columns on a board.
        players: names of the players with mark 1 and 2.
    """

    def __init__(self, board: G, players: tuple[str, str] = ("you", "agent")) -> None:
        self.players = players
        self.moves: list[int] = []
        self._positions = [board]
        self._undone: list[int] = []
        self._conceded: Outcome | None = None

    @property
    def board(self) -> G:
        """The position now."""
        return self._positions[-1]

    @property
    def player(self) -> str:
        """The name of the player to move."""
        return self.players[self.board.turn - 1]

    @property
    def legal_moves(self) -> list[int]:
        """The moves there are; none once the game is over, resigned games included."""
        return [] if self._conceded else list(self.board.legal_moves())

    @property
    def result(self) -> Outcome | None:
        """How the game ended, None while it goes on."""
        if self._conceded:
            return self._conceded
        if self.board.winner:
            return Outcome(self.board.winner, Reason.LINE)
        return None if self.board.legal_moves() else Outcome(0, Reason.FULL)

    @property
    def can_undo(self) -> bool:
        """Whether there is a move, or a resignation, to take back."""
        return bool(self.moves or self._conceded)

    @property
    def can_redo(self) -> bool:
        """Whether a move that was taken back can be played again."""
        return bool(self._undone) and not self._conceded

    def play(self, move: int) -> None:
        """Plays a move. Raises `BoardError` (another game: its own `ValueError`) for an illegal one."""
        self._advance(move)
        self._undone.clear()

    def undo(self) -> bool:
        """Takes back the last move, or else the resignation after it; False if there is nothing."""
        if self._conceded:
            self._conceded = None
            return True
        if not self.moves:
            return False
        self._undone.append(self.moves.pop())
        self._positions.pop()
        return True

    def redo(self) -> bool:
        """Plays the move last taken back again; False if there is none."""
        if not self.can_redo:
            return False
        self._advance(self._undone.pop())
        return True

    def take_back(self, mark: int | None = None) -> bool:
        """Back to the last position before this one with `mark` (by default who moves now) to move.

        False, and nothing changes, if there is none. A resignation of who is to move is all that is undone.
        """
        mark = mark or self.board.turn
        if self._conceded and self.board.turn == mark:
            return self.undo()
        earlier = [ply for ply, position in enumerate(self._positions[:-1]) if position.turn == mark]
        if not earlier:
            return False
        while len(self._positions) > earlier[-1] + 1:
            self.undo()
        return True

    def resign(self, mark: int) -> None:
        """Ends the game as a loss of `mark`. Raises `BoardError` if it is over already."""
        self._concede(mark, Reason.RESIGNED)

    def forfeit(self, mark: int) -> None:
        """The same for an agent that gave no legal move."""
        self._concede(mark, Reason.FORFEIT)

    def hint(self: Session[Board], agent: Agent, seconds: float = 2) -> int:
        """The column that `agent` would play now. Raises as `ask` does."""
        return ask(agent, self.board, seconds)

    def to_record(self: Session[Board]) -> dict[str, Any]:
        """The game as a dictionary for JSON; `from_record` goes on from it. What was undone is not kept."""
        shape, start = self.board.geometry, self._positions[0]
        record: dict[str, Any] = {
            "configuration": {"rows": shape.rows, "columns": shape.columns, "inarow": shape.inarow},
            "moves": list(self.moves),
            "players": list(self.players),
            "result": asdict(self.result) if self.result else None,
        }
        if start != Board(shape.rows, shape.columns, shape.inarow):
            record["start"] = {"cells": start.to_flat(), "turn": start.turn}
        return record

    @staticmethod
    def from_record(record: Mapping[str, Any]) -> Session[Board]:
        """The game of `to_record`, or of a match's `GameRecord.to_json` once read as JSON.

        Raises `InputError` for anything else, `BoardError` for a move that cannot be played.
        """
        try:
            size = {name: int(record["configuration"][name]) for name in ("rows", "columns", "inarow")}
            board = Board(**size)
            if "start" in record:
                board = Board.from_flat(record["start"]["cells"], **size, turn=record["start"]["turn"])
            first, second = record.get("players", ("player 1", "player 2"))
            session = Session(board, (str(first), str(second)))
            for move in record["moves"]:
                session.play(int(move))
            result = record.get("result")
            if result and result["reason"] in (Reason.RESIGNED, Reason.FORFEIT):
                session._concede(3 - int(result["winner"]), Reason(result["reason"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, BoardError):
                raise
            raise InputError(f"not the record of a game ({type(error).__name__}: {error})") from None
        return session

    def _advance(self, move: int) -> None:
        if self._conceded:
            raise BoardError(f"the game is over: {self.players[2 - self._conceded.winner]} gave up")
        self._positions.append(self.board.play(move))
        self.moves.append(move)

    def _concede(self, mark: int, reason: Reason) -> None:
        if mark not in (1, 2):
            raise BoardError(f"mark {mark!r}: players are 1 and 2")
        if self.result:
            raise BoardError("the game is over already")
        self._conceded = Outcome(3 - mark, reason)


def ask(agent: Agent, board: Board, seconds: float = 2) -> int:
    """The legal column that `agent` answers, shown the position as Kaggle would show it.

    `seconds` is the time of a move it is told; nothing holds it to that. Raises `AgentError` where the
    agent raises an error or answers what Kaggle would refuse.
    """
    shape = board.geometry
    settings = configuration(rows=shape.rows, columns=shape.columns, inarow=shape.inarow, actTimeout=seconds)
    observation = {
        "remainingOverageTime": OVERAGE_SECONDS,
        "step": board.ply,
        "board": board.to_flat(),
        "mark": board.turn,
    }
    arguments = getattr(getattr(agent, "__code__", None), "co_argcount", 2)
    try:
        answer = agent(*(fresh(observation), fresh(settings))[:arguments])
    except (Exception, SystemExit) as error:
        raise AgentError(f"failed with {type(error).__name__}: {error}") from error
    if not isinstance(answer, int) or isinstance(answer, bool) or answer not in board.legal_moves():
        raise AgentError(f"answered {answer!r}, which is no column it can play")
    return int(answer)


def last_cell(board: Board) -> tuple[int, int] | None:
    """The cell (height, column) of the disc played last, None where no move is known."""
    if board.last is None:
        return None
    return max(height for height in range(board.geometry.rows) if board.cell(height, board.last)), board.last
