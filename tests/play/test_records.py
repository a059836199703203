"""Records on disk: what they count, what they say, and that nothing is lost."""

import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from engine.board import Board
from play.records import Records, RecordsError, Standing
from play.session import Session

WIN_IN_7 = "4141414"
WIN_IN_9 = "112233774"  # by player 1 as well
OPPONENT = "n_step:N_STEPS=5"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "not there yet" / "records.sqlite3"


@pytest.fixture
def records(path):
    return Records(path)


def game(moves, board=None):
    session = Session(board or Board())
    for column in moves:
        session.play(int(column) - 1)
    return session


def test_nothing_yet(records):
    assert records.standing(OPPONENT, Board()) == Standing()
    assert str(Standing()) == "0 games: 0 won, 0 drawn, 0 lost"


def test_each_opponent_and_board_has_its_own_record(records):
    small = Board(4, 5, 3)
    for opponent, board, result in (
        (OPPONENT, Board.from_moves(WIN_IN_9), "won"),
        (OPPONENT, Board.from_moves(WIN_IN_7), "won"),
        (OPPONENT, Board.from_moves("44"), "lost"),
        (OPPONENT, Board.from_moves("4"), "drawn"),
        ("perfect", Board.from_moves("4455"), "lost"),
        (OPPONENT, small, "drawn"),
    ):
        records.add(opponent, board, result)
    standing = records.standing(OPPONENT, Board())
    assert standing == Standing(games=4, wins=2, draws=1, fewest_discs=7)
    assert standing.losses == 1
    assert str(standing) == "4 games: 2 won, 1 drawn, 1 lost; fewest discs in a win: 7"
    assert records.standing("perfect", Board()) == Standing(games=1)
    assert records.standing(OPPONENT, small) == Standing(games=1, draws=1)
    assert records.standing("perfect", small) == Standing()


def test_a_result_is_won_drawn_or_lost(records):
    with pytest.raises(RecordsError, match="CHECK constraint"):
        records.add(OPPONENT, Board(), "winning")
    assert records.standing(OPPONENT, Board()) == Standing()


def test_the_words_at_the_end(records):
    assert records.conclude(game(WIN_IN_9), 1, OPPONENT) == (
        f"Congratulations! Your first win against {OPPONENT}, with 9 discs on the board. "
        "(1 game: 1 won, 0 drawn, 0 lost; fewest discs in a win: 9.)"
    )
    assert records.conclude(game(WIN_IN_7), 1, OPPONENT).startswith(
        f"Congratulations! A new record against {OPPONENT}: 7 discs instead of 9."
    )
    assert records.conclude(game(WIN_IN_9), 1, OPPONENT).startswith(
        f"Congratulations! You have won against {OPPONENT}, with 9 discs on the board."
    )
    assert records.conclude(game(WIN_IN_7), 2, OPPONENT).startswith(f"{OPPONENT} has won this time.")
    assert records.conclude(game("1221", Board(2, 2, 3)), 1, OPPONENT).startswith("A draw: neither you nor")
    assert records.standing(OPPONENT, Board()) == Standing(games=4, wins=3, fewest_discs=7)


def test_a_level_is_called_by_its_name(records):
    words = records.conclude(game(WIN_IN_7), 2, "alpha_beta:DEPTH=6,PRESET=article")
    assert words.startswith("Expert has won this time.")


def test_resigning_is_a_loss(records):
    session = game("44")
    session.resign(1)
    assert "has won this time" in records.conclude(session, 1, OPPONENT)
    assert records.standing(OPPONENT, Board()).losses == 1


def test_an_agents_forfeit_is_no_win(records):
    session = game("4")
    session.forfeit(2)
    assert records.conclude(session, 1, OPPONENT).endswith("This game does not count.")
    assert records.standing(OPPONENT, Board()) == Standing()


def test_a_file_that_is_no_database_is_left_as_it_is(records, path):
    path.parent.mkdir()
    path.write_text("these are my notes, keep them\n" * 100)
    with pytest.raises(RecordsError, match="not a database: move the file away") as error:
        records.add(OPPONENT, Board(), "won")
    assert str(path) in str(error.value)
    assert path.read_text() == "these are my notes, keep them\n" * 100


def test_a_place_that_cannot_be_used(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RecordsError, match="cannot be used"):
        Records(tmp_path / "file" / "records.sqlite3").standing(OPPONENT, Board())


def test_another_program_holds_the_file(records, path, monkeypatch):
    records.add(OPPONENT, Board(), "lost")
    monkeypatch.setattr("play.records.PATIENCE", 0.05)
    with sqlite3.connect(path, isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(RecordsError, match="cannot be used: database is locked"):
            records.add(OPPONENT, Board(), "lost")
        other.execute("ROLLBACK")
    other.close()
    records.add(OPPONENT, Board(), "lost")
    assert records.standing(OPPONENT, Board()).games == 2


# Adds games, and says of each that it is kept.
WRITER = """
import sys
from pathlib import Path
from engine.board import Board
from play.records import Records
records = Records(Path(sys.argv[1]))
for number in range(int(sys.argv[2])):
    records.add("n_step:N_STEPS=5", Board(), "won")
    print(number, flush=True)
"""


def start(path, games):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, path, str(games)], stdout=subprocess.PIPE, text=True
    )


def test_programs_that_write_at_the_same_time_lose_nothing(records, path):
    writers = [start(path, 25) for _ in range(3)]
    for writer in writers:
        assert writer.communicate(timeout=120)[0].split() == [str(number) for number in range(25)]
        assert writer.returncode == 0
    assert records.standing(OPPONENT, Board()).games == 75


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_program_killed_while_it_writes_loses_nothing(records, path):
    kept = 0
    for attempt in range(8):
        writer = start(path, 10**6)
        writer.stdout.readline()
        time.sleep(0.003 * attempt)
        os.kill(writer.pid, signal.SIGKILL)
        told = 1 + len(writer.communicate(timeout=60)[0].splitlines())
        games = records.standing(OPPONENT, Board()).games
        # What was told is kept; the game being written when the end came is kept whole or not at all.
        assert games - kept in (told, told + 1)
        kept = games
    with sqlite3.connect(path) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_transaction_cut_off_by_a_kill_is_undone(records, path):
    """The kill comes for certain between the write and the commit, with the pages already in the file."""
    records.add(OPPONENT, Board(), "won")
    killed = """
import os, signal, sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("PRAGMA cache_size = 1")  # so that pages go to the file before the commit
database.execute("BEGIN IMMEDIATE")
database.executemany("INSERT INTO games (opponent, rows, columns, inarow, result, discs)"
                     " VALUES ('n_step:N_STEPS=5', 6, 7, 4, 'lost', 9)", [()] * 2000)
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", killed, path], check=False).returncode == -signal.SIGKILL
    assert (path.parent / "records.sqlite3-journal").stat().st_size > 0
    assert records.standing(OPPONENT, Board()) == Standing(games=1, wins=1, fewest_discs=0)
    assert not (path.parent / "records.sqlite3-journal").exists()
