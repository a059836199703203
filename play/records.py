"""How a person has done against each opponent, kept in a small database (SQLite).

Every game is written in a transaction of its own, in SQLite's rollback journal: a program killed in the
middle of it leaves the file as it was before, and two programs wait for each other.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from engine.board import Board
from evaluation.errors import InputError
from play.folders import data_folder
from play.session import Reason, Session
from play.settings import level_name

PATIENCE = 10  # seconds to wait for another program that is writing

SCHEMA = """
CREATE TABLE IF NOT EXISTS games (
    id INTEGER PRIMARY KEY,
    opponent TEXT NOT NULL,
    rows INTEGER NOT NULL,
    columns INTEGER NOT NULL,
    inarow INTEGER NOT NULL,
    result TEXT NOT NULL CHECK (result IN ('won', 'drawn', 'lost')),
    discs INTEGER NOT NULL
)
"""
OF_OPPONENT = "WHERE opponent = ? AND rows = ? AND columns = ? AND inarow = ?"


class RecordsError(InputError):
    """The records cannot be read or written; the message names the file."""


@dataclass(frozen=True)
class Standing:
    """A person's games against one opponent on boards of one size.

    `fewest_discs` is the least number of discs on the board at the end of a game won, None before a win.
    """

    games: int = 0
    wins: int = 0
    draws: int = 0
    fewest_discs: int | None = None

    @property
    def losses(self) -> int:
        """How many games were lost."""
        return self.games - self.wins - self.draws

    def __str__(self) -> str:
        """As in "10 games: 3 won, 1 drawn, 6 lost; fewest discs in a win: 19"."""
        games = "1 game" if self.games == 1 else f"{self.games} games"
        text = f"{games}: {self.wins} won, {self.draws} drawn, {self.losses} lost"
        return text if self.fewest_discs is None else f"{text}; fewest discs in a win: {self.fewest_discs}"


class Records:
    """The records in the file `path`, by default the person's own. Its methods raise `RecordsError`."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or data_folder() / "records.sqlite3"

    def standing(self, opponent: str, board: Board) -> Standing:
        """How the games against the agent spec `opponent` on boards of this size went."""
        with self._database() as database:
            row = database.execute(
                "SELECT count(*), total(result = 'won'), total(result = 'drawn'),"
                f" min(CASE result WHEN 'won' THEN discs END) FROM games {OF_OPPONENT}",
                _key(opponent, board),
            ).fetchone()
        return Standing(row[0], int(row[1]), int(row[2]), row[3])

    def add(self, opponent: str, board: Board, result: str) -> None:
        """Keeps a game that ended in `board`, seen from the person: won, drawn or lost."""
        with self._database() as database:
            database.execute(
                "INSERT INTO games (opponent, rows, columns, inarow, result, discs)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (*_key(opponent, board), result, board.ply),
            )

    def conclude(self, session: Session[Board], person: int, opponent: str) -> str:
        """Keeps the game of `session`, which is over, and tells the person (a mark) how it went.

        A game that an agent forfeited is not kept: there is no merit in it.
        """
        outcome, board = session.result, session.board
        assert outcome is not None, "the game goes on"
        name = level_name(opponent)
        if outcome.reason is Reason.FORFEIT:
            return f"{name} forfeited by playing no legal move. This game does not count."
        before = self.standing(opponent, board)
        self.add(opponent, board, {0: "drawn", person: "won"}.get(outcome.winner, "lost"))
        standing = self.standing(opponent, board)
        return f"{_words(name, outcome.winner, person, board.ply, before.fewest_discs)} ({standing}.)"

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        """The database within one transaction. It is opened for every use, so that any thread may ask."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)) as database:
                database.execute("BEGIN IMMEDIATE")
                database.execute(SCHEMA)
                yield database
                database.execute("COMMIT")
        except (sqlite3.OperationalError, OSError) as error:  # locked, full disk, no permission
            raise RecordsError(f"the records {self.path} cannot be used: {error}") from None
        except sqlite3.DatabaseError as error:
            raise RecordsError(f"{self.path}: {error}: move the file away to begin new records") from None


def _key(opponent: str, board: Board) -> tuple[str, int, int, int]:
    shape = board.geometry
    return opponent, shape.rows, shape.columns, shape.inarow


def _words(name: str, winner: int, person: int, discs: int, fewest: int | None) -> str:
    """Congratulation or consolation; `fewest` discs in a win were the record before."""
    if not winner:
        return f"A draw: neither you nor {name} found a way through."
    if winner != person:
        return f"{name} has won this time. Well fought: the next game is yours to win."
    if fewest is None:
        return f"Congratulations! Your first win against {name}, with {discs} discs on the board."
    if discs < fewest:
        return f"Congratulations! A new record against {name}: {discs} discs instead of {fewest}."
    return f"Congratulations! You have won against {name}, with {discs} discs on the board."
