import json
from collections import Counter
from itertools import islice

import pytest

from engine.board import Board
from engine.solver import ExactSolver
from evaluation.analysis import Analyst, position_key, sign
from evaluation.errors import InputError
from evaluation.positions import FULL, POSITIONS, Position, build, holds_positions, read_positions


@pytest.fixture(scope="module")
def positions():
    return read_positions()


def line(moves="444444", **changes):
    """A good line, with changes; None leaves an entry out."""
    board = Board.from_moves(moves)
    entry = json.loads(Position(1, board, Analyst().scores(board)).to_json()) | changes
    return json.dumps({key: value for key, value in entry.items() if value is not None})


def test_every_ply_with_a_choice_is_there(positions):
    plies = Counter(position.board.ply for position in positions)
    assert set(plies) == set(range(41))
    assert [ply for ply in range(41) if plies[ply] != 25] == [0, 1]  # there are no more
    assert (plies[0], plies[1]) == (1, 4)
    assert POSITIONS.stat().st_size < 250_000


def test_no_two_are_the_same_or_mirror_images(positions):
    assert len({position_key(position.board) for position in positions}) == len(positions)
    assert len({position_key(position.board)[0] for position in positions}) == len(positions)


def test_every_position_has_a_choice_and_nearly_all_one_of_value(positions):
    known = [{score for score in position.scores if score is not None} for position in positions]
    assert all(len(scores) > 1 for scores in known)
    at_stake = sum(len(set(map(sign, scores))) > 1 for scores in known)
    assert at_stake >= 0.98 * len(positions)


def test_a_fresh_solve_gives_the_same_scores(positions):
    analyst = Analyst()
    late = (position for position in positions if position.board.ply >= 14)
    for position in [*positions[:150:3], *islice(late, 0, None, 4)]:
        assert analyst.scores(position.board) == position.scores


def test_the_readable_solver_gives_the_same_scores(positions):
    solver = ExactSolver()
    for position in [each for each in positions if each.board.ply >= 24][::9]:
        assert tuple(solver.column_scores(position.board)) == position.scores


@pytest.mark.slow
def test_the_whole_file_is_made_again_byte_for_byte():
    made = "".join(position.to_json() + "\n" for position in build())
    assert made == POSITIONS.read_text(encoding="ascii")


def test_the_file_is_made_again(positions, monkeypatch):
    monkeypatch.setattr("evaluation.positions.CELLS", 7)  # up to 5 discs: from the book
    for made, kept in zip(build(), positions, strict=False):
        assert (made.board, made.scores) == (kept.board, kept.scores)


def test_a_file_is_read_as_it_was_written(tmp_path, positions):
    path = tmp_path / "positions"
    path.write_text("".join(position.to_json() + "\n" for position in positions[::50]), encoding="ascii")
    again = read_positions(path)
    assert [(each.board, each.scores) for each in again] == [(p.board, p.scores) for p in positions[::50]]
    assert [each.number for each in again] == list(range(1, len(again) + 1))


def test_the_other_name_of_the_scores_blank_lines_and_a_byte_order_mark(tmp_path):
    entry = json.loads(line())
    entry["move score"] = entry.pop("move_scores")
    path = tmp_path / "positions"
    path.write_bytes(b"\xef\xbb\xbf" + f"{json.dumps(entry)}\r\n\r\n{line('4')}\n".encode())
    first, second = read_positions(path)
    assert first.scores[3] is None
    assert (first.number, second.number) == (1, 3)
    assert holds_positions(path)


FLAT = Board.from_moves("444444").to_flat()
SCORES = json.loads(line())["move_scores"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[1, 2]", "not a JSON object"),
        (line(board=None), "board is missing"),
        (line(score=None), "score is missing"),
        (line(move_scores=None), "move_scores is missing"),
        (line(board="0" * 42), "board is no list of whole numbers"),
        (line(board=[0.0] * 42), "board is no list of whole numbers"),
        (line(board=[False] * 42), "board is no list of whole numbers"),
        (line(board=[0] * 41), "board has 41 numbers, not 42"),
        (line(board=[3, *FLAT[1:]]), "cell 3 in column 1"),
        (line(board=[1, *FLAT[1:]]), "a disc hangs in the air"),
        (line(board=[*FLAT[:-2], 1, 1]), "5 discs of player 1 and 3 of player 2: they move in turn"),
        (line(board=[*FLAT[:-1], 2]), "3 discs of player 1 and 4 of player 2: they move in turn"),
        (line(board=Board.from_moves("1212121").to_flat()), "the game is over"),
        (line(move_scores=SCORES[:6]), "move_scores has 6 numbers, not 7"),
        (line(move_scores=[*SCORES[:6], "1"]), "move_scores is no list of whole numbers"),
        (line(move_scores=[*SCORES[:3], 0, *SCORES[4:]]), "column 4 is full: its score must be -99"),
        (line(move_scores=[FULL, *SCORES[1:]]), "column 1 is not full"),
        (line(move_scores=[18, *SCORES[1:]]), "column 1: with 6 discs no move has the score 18"),
        (line(move_scores=[-19, *SCORES[1:]]), "column 1: with 6 discs no move has the score -19"),
        (line(score=18), "score is 18, but the best move's is"),
        (line(score=1.5), "score is 1.5, but"),
        (line("121212", move_scores=[0] * 7, score=0), "column 1 wins at once: its score must be 18, not 0"),
    ],
)
def test_a_bad_line_is_named(tmp_path, text, complaint):
    path = tmp_path / "mine.jsonl"
    path.write_text(f"{line()}\n{text}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"mine\.jsonl, line 2: ") as error:
        read_positions(path)
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "holds no positions"),
        (b"\n \n", "holds no positions"),
        (b"\xff\xfe", "is not UTF-8 text"),
    ],
)
def test_a_file_without_positions(tmp_path, content, complaint):
    path = tmp_path / "mine"
    path.write_bytes(content)
    with pytest.raises(InputError, match=complaint):
        read_positions(path)
    assert not holds_positions(path)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*: "):
        read_positions(tmp_path)
    assert not holds_positions(tmp_path / "none")
