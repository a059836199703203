import json
import os
from collections import deque
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.board import Board
from engine.native.build import NativeError
from engine.solver import ExactSolver
from evaluation import analysis
from evaluation.analysis import PHASES, Analyst, JudgedMove, Tally, analyse, analyses, in_order, phase, sign
from evaluation.loading import load_agent
from evaluation.referee import configuration, play_game
from evaluation.replays import RecordedGame
from evaluation.workers import WorkerError

EMPTY = (-2, -1, 0, 1, 0, -1, -2)
LATE = "2252576253462244111563365343671351441"  # one forced line is left


@pytest.fixture(scope="module")
def analyst():
    return Analyst()


def record(moves, opening=(), **settings):
    """A game of two agents that play `moves` (a move string) after the opening, a prefix of them."""
    columns = [int(digit) - 1 for digit in moves]
    rest = deque(columns[len(opening) :])
    return play_game(
        [lambda _obs, _config: rest.popleft()] * 2, settings, [int(digit) - 1 for digit in opening]
    )


def boards(least, most):
    """Positions of the standard board with so many discs, whose games are not over."""

    @st.composite
    def draw(draw_one):
        board = Board()
        for _ in range(draw_one(st.integers(least, most))):
            quiet = [c for c in board.legal_moves() if not board.play(c).is_over]
            if not quiet:
                break
            board = board.play(draw_one(st.sampled_from(quiet)))
        return board

    return draw().filter(lambda board: board.ply >= least)


def test_scores_of_the_empty_board_are_those_published(analyst):
    assert analyst.scores(Board()) == EMPTY


def test_a_game_that_is_over_has_no_scores(analyst):
    assert analyst.scores(Board.from_moves("1212121")) == (None,) * 7


@settings(max_examples=25, deadline=None)
@given(board=boards(18, 40))
def test_a_moves_score_is_that_of_what_it_leads_to(analyst, board):
    scores = analyst.scores(board)
    for column, score in enumerate(scores):
        if column not in board.legal_moves():
            assert score is None
            continue
        child = board.play(column)
        if child.winner:
            assert score == (43 - board.ply) // 2
        else:
            assert score == -max((s for s in analyst.scores(child) if s is not None), default=0)
    assert analyst.scores(board.mirror()) == scores[::-1]


@settings(max_examples=25, deadline=None)
@given(board=boards(26, 40))
def test_the_readable_solver_agrees(analyst, board):
    assert list(analyst.scores(board)) == ExactSolver().column_scores(board)


@cache
def plain(board):
    """The score of a position by trying everything."""
    if board.winner or board.is_draw:
        return -((board.geometry.cells + 2 - board.ply) // 2) if board.winner else 0
    return max(-plain(board.play(column)) for column in board.legal_moves())


@pytest.mark.parametrize(("rows", "columns", "inarow"), [(3, 3, 3), (3, 4, 3), (4, 3, 3), (2, 5, 2)])
def test_small_boards_by_trying_everything(rows, columns, inarow):
    small = Analyst(rows, columns, inarow)
    todo = [Board(rows, columns, inarow)]
    for board in todo[:200]:
        legal = board.legal_moves()
        scores = [-plain(board.play(c)) if c in legal else None for c in range(columns)]
        assert small.scores(board) == (tuple(scores) if not board.is_over else (None,) * columns)
        todo += [board.play(column) for column in legal]


def test_a_board_beyond_128_bits_has_no_scores_and_says_so():
    large = Analyst(11, 11, 5)
    assert large.scores(Board(11, 11, 5)) is None
    assert large.lacks == "boards of 11x11, inarow 5, are too large to be solved"
    assert Analyst().lacks == ""


def test_without_a_core_it_solves_in_python_and_says_so(monkeypatch):
    def none(*_arguments):
        raise NativeError("no compiler")

    monkeypatch.setattr("engine.oracle.NativeSolver", none)
    slow = Analyst(seconds=0.5)
    assert slow.lacks == "no compiler; solving in Python, which is some hundred times slower"
    board = Board.from_moves(LATE)
    assert slow.scores(board) == Analyst().scores(board)
    hard = Board.from_moves("44444255")
    assert slow.scores(hard) is None


class TestMemory:
    def solved(self, monkeypatch, analyst):
        """The positions that are searched from now on."""
        found = []
        search = analyst.oracle.solver.column_scores

        def column_scores(board, **limits):
            found.append(board)
            return search(board, **limits)

        monkeypatch.setattr(analyst.oracle.solver, "column_scores", column_scores)
        return found

    def test_a_second_analyst_solves_nothing_again(self, tmp_path, monkeypatch):
        path = tmp_path / "memory.jsonl"
        board = Board.from_moves(LATE[:20])
        scores = Analyst(memory=path).scores(board)
        again = Analyst(memory=path)
        solved = self.solved(monkeypatch, again)
        assert again.scores(board) == scores
        assert again.scores(board.mirror()) == scores[::-1]
        assert solved == []
        assert len(path.read_text().splitlines()) == 1

    def test_the_book_is_not_copied_into_it(self, tmp_path):
        Analyst(memory=tmp_path / "memory.jsonl").scores(Board())
        assert not (tmp_path / "memory.jsonl").exists()

    def test_its_form(self, tmp_path):
        path = tmp_path / "memory.jsonl"
        board = Board.from_moves(LATE[:20])
        scores = Analyst(memory=path).scores(board)
        line = json.loads(path.read_text())
        keys = {each.own + (each.own | each.other): each for each in (board, board.mirror())}
        assert line == {
            "board": "6x7x4",
            "key": f"{min(keys):x}",
            "scores": list(scores if keys[min(keys)] == board else scores[::-1]),
        }

    @pytest.mark.parametrize("kept", range(1, 70, 12))
    def test_a_line_cut_off_by_a_kill_costs_that_line_only(self, tmp_path, monkeypatch, kept):
        path = tmp_path / "memory.jsonl"
        first, second = (Board.from_moves(LATE[:plies]) for plies in (24, 25))
        before = Analyst(memory=path)
        scores = before.scores(first), before.scores(second)
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(lines[0] + lines[1][: min(kept, len(lines[1]) - 2)])
        again = Analyst(memory=path)
        solved = self.solved(monkeypatch, again)
        assert (again.scores(first), again.scores(second)) == scores
        assert solved == [second]
        last = Analyst(memory=path)
        solved = self.solved(monkeypatch, last)
        assert (last.scores(first), last.scores(second)) == scores
        assert solved == []

    def test_lines_that_are_none_of_its_own_are_passed_over(self, tmp_path):
        path = tmp_path / "memory.jsonl"
        other = Analyst(5, 6, 4, memory=path)
        other.scores(Board.from_moves("1122", 5, 6, 4))
        wrong = ['{"board": "6x7x4", "key": "zz", "scores": [1]}', "[]", "null", "", '{"board": 3}', "\xff"]
        short = '{"board": "6x7x4", "key": "1", "scores": [1, 2]}'
        with path.open("a", encoding="utf-8") as file:
            file.write("\n".join([*wrong, short]) + "\n")
        assert Analyst(memory=path).scores(Board.from_moves(LATE)) == Analyst().scores(Board.from_moves(LATE))

    @pytest.mark.parametrize("place", ["", "no/folder/memory.jsonl"])
    def test_without_a_file_to_write_it_goes_on_and_says_so_once(self, tmp_path, capsys, place):
        analyst = Analyst(memory=tmp_path / place)
        for plies in (24, 25):
            assert analyst.scores(Board.from_moves(LATE[:plies]))
        told = capsys.readouterr().err
        assert told.startswith(f"what is solved is not kept: {tmp_path / place}: ")
        assert told.count("\n") == 1

    def test_what_was_not_solved_is_tried_again_with_more_time_only(self, tmp_path, monkeypatch):
        path = tmp_path / "memory.jsonl"
        hard = Board.from_moves("44444255")
        assert Analyst(memory=path, seconds=0.001).scores(hard) is None
        again = Analyst(memory=path, seconds=0.001)
        solved = self.solved(monkeypatch, again)
        assert again.scores(hard) is None
        assert solved == []
        longer = Analyst(memory=path, seconds=0.002)
        solved = self.solved(monkeypatch, longer)
        longer.scores(hard)
        assert solved == [hard]

    def test_ctrl_c_keeps_what_is_solved(self, tmp_path, monkeypatch):
        path = tmp_path / "memory.jsonl"
        stopped = Analyst(memory=path)
        game = record("4455637")
        search, calls = stopped.oracle.solver.column_scores, []

        def column_scores(board, **limits):
            calls.append(board)
            if len(calls) == 4:
                raise KeyboardInterrupt
            return search(board, **limits)

        stopped.oracle.book = None
        monkeypatch.setattr(stopped.oracle.solver, "column_scores", column_scores)
        with pytest.raises(KeyboardInterrupt):
            analyse(game, stopped)
        assert len(path.read_text().splitlines()) == 3


def test_a_first_mistake_that_can_be_checked_by_hand(analyst):
    """O ignores two in a row with room on both sides; X makes it three, and wins with its fourth disc."""
    judged = analyse(record("4455637"), analyst)
    fatal = judged.first_mistake(1)
    assert (fatal.ply, fatal.column, fatal.score) == (3, 4, -18)  # X wins with its fourth disc: 22 - 4
    assert fatal.scores == (-18, -18, 2, -18, -18, 2, -18)  # all but the cells beside the two
    assert judged.moves[4].score == judged.moves[6].score == 18
    assert judged.moves[5].lost == 0  # every reply loses as soon
    assert [move.lost for move in judged.moves] == [0, 0, 3, 20, 0, 0, 0]
    assert judged.first_mistake() == judged.first_mistake(0) == judged.moves[2]  # it gave the first win away
    assert judged.scores[-1] == (None,) * 7


def test_moves_of_the_opening_are_not_judged(analyst):
    game = record("1455637", opening="14")
    judged = analyse(game, analyst)
    assert [move.ply for move in judged.moves] == [2, 3, 4, 5, 6]
    assert len(judged.scores) == 8
    assert judged.scores[0] == EMPTY
    whole = analyse(record("1455637"), analyst)
    assert whole.moves[0] == JudgedMove(0, 0, 0, EMPTY)
    assert whole.first_mistake() == whole.first_mistake(0) == whole.moves[0]
    assert (whole.moves[0].best, whole.moves[0].score, whole.moves[0].lost) == (1, -2, 3)
    assert whole.accuracy(0) + whole.accuracy(1) == whole.accuracy() == Tally.of(whole.moves)


def test_perfect_players_make_no_mistake(analyst):
    judged = analyse(play_game([load_agent("perfect")] * 2), analyst)
    tally = judged.accuracy()
    assert (tally.moves, tally.best, tally.kept, tally.lost) == (41, 41, 41, 0)  # X wins with disc 41
    assert judged.first_mistake() is None


def test_before_a_position_that_is_not_solved_none_is_tried(monkeypatch):
    game = record("4455637")
    asked = []

    class Stub(Analyst):
        def scores(self, board):
            asked.append(board.ply)
            return None if board.ply == 4 else (0,) * 7

        def known(self, board):
            return (0,) * 7 if board.ply == 1 else None

    judged = analyse(game, Stub(seconds=0.01))
    assert asked[-1] == 4
    assert [ply for ply, scores in enumerate(judged.scores) if scores] == [1, 5, 6, 7]
    assert [move.ply for move in judged.moves] == [1, 5, 6]


def test_a_game_that_steps_end_is_not_judged(analyst):
    judged = analyse(record("44556", episodeSteps=6), analyst)
    assert (judged.moves, judged.scores) == ((), (None,) * 6)


@given(ply=st.integers(0, 41))
def test_phases_are_thirds(ply):
    assert phase(ply, 42) == PHASES[ply // 14]


@given(
    st.lists(st.one_of(st.none(), st.integers(-18, 18)), min_size=1, max_size=9).filter(
        lambda s: any(each is not None for each in s)
    ),
    st.data(),
)
def test_what_a_move_loses(scores, data):
    column = data.draw(st.sampled_from([c for c, score in enumerate(scores) if score is not None]))
    move = JudgedMove(4, 0, column, tuple(scores))
    assert move.lost == move.best - move.score >= 0
    assert move.is_best == (scores[column] == move.best)
    assert move.keeps_value == (sign(move.best) == sign(scores[column]))
    assert move.keeps_value or not move.is_best
    tally = Tally.of([move, move])
    assert tally == Tally(2, 2 * move.is_best, 2 * move.keeps_value, 2 * move.lost)
    assert tally.best_interval[0] <= tally.best_share <= tally.best_interval[1]


def recorded(count=4):
    """Games of quick agents from late enough openings."""
    opening = [int(digit) - 1 for digit in LATE[:18]]
    agents = [load_agent("one_step"), load_agent("random_legal")]
    return [RecordedGame(str(n), ("a", "b"), play_game(agents, {}, opening)) for n in range(count)]


def test_processes_judge_the_same_in_the_same_order(tmp_path):
    games = recorded()
    memory = tmp_path / "memory.jsonl"
    one = list(analyses(games))
    two = list(analyses(games, jobs=2, memory=memory))
    assert one == two
    assert [game.name for game, _ in two] == ["0", "1", "2", "3"]
    assert memory.exists()


def test_what_an_analyst_lacks_is_told_once_a_size():
    settings = configuration(rows=11, columns=11)
    small = play_game([load_agent("random_legal")] * 2, {"rows": 2, "columns": 2, "inarow": 2})
    large = play_game([load_agent("random_legal")] * 2, settings)
    games = [RecordedGame("", ("a", "b"), each) for each in (large, small, large)]
    told = []
    judged = [each for _, each in analyses(games, tell=told.append)]
    assert told == ["boards of 11x11, inarow 4, are too large to be solved"]
    assert judged[0].moves == ()
    assert len(judged[1].moves) == len(small.moves)


def test_a_process_that_dies_is_told():
    with pytest.raises(WorkerError, match="has ended: try --jobs 1"):
        list(in_order(2, os._exit, [("a", 1)]))


def test_the_memory_of_a_tournament(tmp_path):
    assert analysis.memory_of(tmp_path) is None
    (tmp_path / "games.jsonl").touch()
    for source in (tmp_path, tmp_path / "games.jsonl"):
        assert analysis.memory_of(source) == tmp_path / "analysis.jsonl"
    assert analysis.memory_of(Path("replay.json")) is None
