"""How the book is made: what is listed, and the same bytes whatever stops it."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path

import pytest

from engine import __main__ as command
from engine import book_build
from engine.board import Board
from engine.book import Book, book_key, common_key
from engine.book_build import (
    HARD,
    Answer,
    Answers,
    Choice,
    Choices,
    Hard,
    Scores,
    list_own_lines,
    make_book,
    units,
)
from engine.book_positions import board_of_key, children, positions
from engine.book_work import WorkFile, fingerprint

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def book() -> Book:
    return Book.load()


class Known:
    """In place of an oracle and its solver: knows the first plies, and what a position takes is made up."""

    nodes = 0
    forgotten = 0

    def __init__(self, book: Book) -> None:
        self.book = book
        self.solver = self

    def forget(self) -> None:
        self.forgotten += 1

    def score(self, board: Board) -> int:
        return self.book.score(board)

    def reaches(self, board: Board, column: int, score: int) -> bool:
        return -self.book.score(board.play(column)) >= score

    def best_column(self, board: Board, leisure: float = inf) -> int:
        """With time to choose, the one in the middle."""
        self.nodes += taken(board)
        columns = best(self.book, board)
        return columns[len(columns) // 2 if leisure else 0]


def best(book: Book, board: Board) -> list[int]:
    score = book.score(board)
    return [column for column in board.legal_moves() if -book.score(board.play(column)) == score]


def taken(board: Board) -> int:
    return random.Random(book_key(board)).randrange(1000)


class Calculation:
    """In place of `solve_all`: the work file is real, and after some units comes Ctrl-C."""

    def __init__(self, units: float) -> None:
        self.left = units

    def __call__(self, solve, wanted, _jobs, path, _what):
        work = WorkFile(path, fingerprint(solve, wanted))
        done = work.read(wanted)
        for unit in wanted:
            if unit[0] not in done:
                if not self.left:
                    raise KeyboardInterrupt
                self.left -= 1
                done[unit[0]] = solve(unit)
                work.append(unit, done[unit[0]])
        return {moves: number for unit in wanted for moves, number in zip(unit, done[unit[0]], strict=True)}


@pytest.fixture
def small(book: Book, monkeypatch) -> None:
    """A book of 2 plies, lists to ply 5, from what the kit's own knows."""
    monkeypatch.setattr(Scores, "solver", Known(book))
    monkeypatch.setattr(Answers, "oracle", Known(book))
    monkeypatch.setattr(book_build, "HARD", {3: Hard(500, 0), 4: Hard(300, 400)})
    monkeypatch.setattr(book_build, "PLACED", (3, 4))
    monkeypatch.setattr(book_build, "LONG_NODES", 800)


def made(monkeypatch, file: Path, units: float = inf) -> Book:
    monkeypatch.setattr(book_build, "solve_all", Calculation(units))
    return make_book(2, 1, file, 5)


def test_what_is_listed(small, book: Book, monkeypatch, tmp_path) -> None:
    found = made(monkeypatch, tmp_path / "book.bin")
    assert [found.score(Board.from_moves(moves)) for moves in positions(2)] == [
        book.score(Board.from_moves(moves)) for moves in positions(2)
    ]
    hard = [moves for moves in positions(3) if taken(Board.from_moves(moves)) >= 500]
    after = children([moves for moves in positions(3) if taken(Board.from_moves(moves)) >= 400])
    hard += [moves for moves in after if taken(Board.from_moves(moves)) >= 300]
    assert len(hard) > 100
    for board in map(Board.from_moves, hard):
        assert found.column(board) is not None
        assert found.column(board) in best(book, board)
    # Others are listed where perfect play leads to them, if they take long.
    names = {common_key(Board.from_moves(moves)) for moves in hard}
    others = [
        board
        for plies in range(6)
        for board in map(Board.from_moves, positions(plies))
        if found.column(board) is not None and common_key(board) not in names
    ]
    assert 0 < len(others) < 1000
    assert all(taken(board) > 800 or taken(board.mirror()) > 800 for board in others)
    assert {3, 4, 5} <= {board.ply for board in others}
    three = [board for board in others if len(best(book, board)) == 3]
    assert three
    assert all(found.column(board) == best(book, board)[1] for board in three)  # chosen with time


@pytest.mark.parametrize("units", [0, 1, 30])
def test_a_stop_anywhere_changes_nothing(small, monkeypatch, tmp_path, units: int) -> None:
    undisturbed = made(monkeypatch, tmp_path / "one.bin").pack()
    stops = 0
    while stops < 100:
        try:
            again = made(monkeypatch, tmp_path / "two.bin", units if stops < 3 else 60).pack()
            break
        except KeyboardInterrupt:
            stops += 1
    assert stops
    assert again == undisturbed


def test_numbers_stand_for_answers_and_choices() -> None:
    for answer in (Answer(0, 0), Answer(1, 6), Answer(10**12, 3)):
        assert Answer.of(answer.number()) == answer
    for choice in (Choice([0], False), Choice([1, 3, 6], False), Choice([6], True)):
        assert Choice.of(choice.number()) == choice


def test_units_begin_alike_and_leave_none_out() -> None:
    for plies in (0, 1, 4, 6):
        names = positions(plies)
        found = units(names)
        assert [moves for unit in found for moves in unit] == names
        kept = plies - min(4, plies // 2)
        assert len({unit[0][:kept] for unit in found}) == len(found)
        assert all(moves[:kept] == unit[0][:kept] for unit in found for moves in unit)
    assert len(units(positions(4))) > 20  # enough for several processes


@pytest.mark.parametrize("plies", [8, 9])
def test_positions_that_take_long_have_a_column(book: Book, plies: int) -> None:
    """What a position takes does not depend on what was solved before; that is why books are the same."""
    rng = random.Random(7)
    names = [random_moves(plies, rng) for _ in range(25)]
    answers = Answers(book.layers)
    found = answers(names)
    assert found == answers(names[::-1])[::-1]
    slow = [
        moves
        for moves, number in zip(names, found, strict=True)
        if Answer.of(number).nodes >= HARD[plies].nodes
    ]
    assert slow
    assert None not in [book.column(Board.from_moves(moves)) for moves in slow]


def random_moves(plies: int, rng: random.Random) -> str:
    while True:
        moves = "".join(rng.choice("1234567") for _ in range(plies))
        try:
            if not Board.from_moves(moves).is_over:
                return moves
        except ValueError:
            pass


def test_columns_after_those_from_every_game_are_chosen_with_time(book: Book) -> None:
    choices = Choices(book.layers)
    for board in map(board_of_key, random.Random(8).sample(sorted(book.columns), 12)):
        here, mirrored = choices.choice(board), choices.choice(board.mirror())
        assert here.long or mirrored.long  # what a position takes is not the same for its mirror image
        assert book.column(board) in (here.columns[0], 6 - mirrored.columns[0])


@pytest.mark.slow
def test_columns_are_listed_where_perfect_play_leads(book: Book, monkeypatch, tmp_path) -> None:
    """The list of a shorter walk is a part of the book's."""
    monkeypatch.setattr(book_build, "solve_all", Calculation(inf))
    short = Book(book.layers, {8: {}})
    list_own_lines(short, 1, tmp_path / "book.bin", 8)
    assert short.answers[8]
    assert short.answers[8].items() <= book.answers[8].items()
    assert not short.columns


def begun(plies: int, path: Path, book: Book, left: int) -> bytes:
    """Makes a work file in which all is solved but the smallest units, and returns what it holds."""
    wanted = units(positions(plies))
    work = WorkFile(path, fingerprint(Scores(), wanted))
    work.read(wanted)
    lines = [
        f"{unit[0]} {' '.join(str(book.score(Board.from_moves(moves))) for moves in unit)}\n"
        for unit in sorted(wanted, key=len)[left:]
    ]
    path.write_text(path.read_text() + "".join(lines))
    return path.read_bytes()


def test_building_in_processes_goes_on_from_any_stop(tmp_path, capsys, book: Book) -> None:
    """A line cut short by a kill, and what is no line of the book, do not matter."""
    packed = []
    for number, tail in enumerate((b"", b"777777\nnonsense 1\n\n1111 x\n777777 \xff\n777777 1 2")):
        path = tmp_path / f"book{number}.bin"
        work = path.with_suffix(".6.scores")
        work.write_bytes(begun(6, work, book, 2) + tail)
        build = ["book", "build", "--plies", "6", "--jobs", "2", "--listed", "0", "--file", str(path)]
        assert command.main(build) == 0
        packed.append(path.read_bytes())
        printed = capsys.readouterr()
        assert "6 plies" in printed.out
        assert "scores of ply 6: 8,231" in printed.err
    assert packed[0] == packed[1]
    assert Book.unpack(packed[0]).score(Board.from_moves("4444")) == book.score(Board.from_moves("4444"))
    assert not list(tmp_path.glob("*.part"))
    assert command.main(["book", "verify", "--count", "3", "--file", str(path)]) == 0
    said = capsys.readouterr().out
    assert "ply 4: 568 of 568 looked at, 0 wrong" in said
    assert said.endswith("nothing is wrong\n")


def test_what_was_solved_for_another_book_is_not_taken_and_not_lost(tmp_path, capsys, book: Book) -> None:
    path = tmp_path / "book.bin"
    work = path.with_suffix(".7.scores")
    before = begun(6, work, book, 0)
    assert command.main(["book", "build", "--plies", "7", "--listed", "0", "--file", str(path)]) == 2
    assert "delete it, or give another --file" in capsys.readouterr().err
    assert work.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--plies", "1", "--listed", "0", "--file", "nowhere/at/all.bin"], "nowhere/at"),
        (["--plies", "1", "--listed", "0", "--file", "."], ". is a folder: name a file"),
    ],
)
def test_what_cannot_be_used_is_named_in_one_line(capsys, arguments, words) -> None:
    assert command.main(["book", "build", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1
    assert words in printed.err


@pytest.mark.parametrize(
    "arguments", [["--plies", "13"], ["--plies", "0"], ["--listed", "-3"], ["--jobs", "x"]]
)
def test_numbers_that_no_book_has(capsys, arguments) -> None:
    with pytest.raises(SystemExit) as end:
        command.main(["book", "build", *arguments])
    assert end.value.code == 2
    assert "write a number from" in capsys.readouterr().err


def test_a_full_disk_is_told(capsys, monkeypatch, tmp_path) -> None:
    def no_space(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(book_build, "make_book", no_space)
    assert command.main(["book", "build", "--file", str(tmp_path / "book.bin")]) == 2
    assert "book.bin: No space left on device" in capsys.readouterr().err


@contextmanager
def building(path: Path, book: Book) -> Iterator[subprocess.Popen]:
    """A command that builds a book, once it has solved something."""
    work = path.with_suffix(".7.scores")
    before = begun(7, work, book, 60)
    build = [sys.executable, "-m", "engine", "book", "build", "--plies", "7", "--jobs", "1"]
    with subprocess.Popen(
        [*build, "--file", str(path)], cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        while work.stat().st_size == len(before) and process.poll() is None:
            time.sleep(0.02)
        yield process
    after = work.read_bytes()
    assert after.startswith(before)
    assert len(after) > len(before)
    assert after.endswith(b"\n")


def test_ctrl_c_keeps_what_is_solved(tmp_path, book: Book) -> None:
    with building(tmp_path / "book.bin", book) as process:
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "the same command goes on" in said
    assert "Traceback" not in said


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the process by Linux's /proc")
def test_a_killed_process_is_told_as_such(tmp_path, book: Book) -> None:
    with building(tmp_path / "book.bin", book) as process:
        for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
            if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                os.kill(int(child), signal.SIGKILL)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "error: a process was killed" in said
    assert "the same command goes on" in said
    assert "Traceback" not in said
