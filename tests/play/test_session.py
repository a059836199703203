"""The state of a game: moves, undo and redo, resigning, hints, records."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.board import Board, BoardError
from engine.tictactoe import TicTacToe
from evaluation.errors import InputError
from evaluation.loading import load_agent
from evaluation.referee import play_game
from play.session import AgentError, Outcome, Reason, Session, ask, last_cell


def after(moves, **size):
    session = Session(Board(**size), ("you", "n_step"))
    for column in moves:
        session.play(column)
    return session


def test_a_game_is_played_to_its_end():
    session = Session(Board(), ("you", "n_step"))
    assert (session.player, session.result, session.legal_moves) == ("you", None, [0, 1, 2, 3, 4, 5, 6])
    session.play(3)
    assert (session.player, session.moves) == ("n_step", [3])
    for column in (0, 3, 0, 3, 0):
        session.play(column)
    assert session.result is None
    session.play(3)
    assert session.result == Outcome(1, Reason.LINE)
    assert session.board == Board.from_moves("4141414")
    assert session.legal_moves == []
    with pytest.raises(BoardError, match="the game is over: player 1 has won"):
        session.play(0)


def test_a_full_board_is_a_draw():
    session = after((0, 1, 1, 0), rows=2, columns=2, inarow=3)
    assert session.result == Outcome(0, Reason.FULL)


def test_an_illegal_move_changes_nothing():
    session = after([0] * 6)
    session.undo()
    for column, complaint in ((7, "column 8 does not exist"), (-1, "column 0 does not exist")):
        with pytest.raises(BoardError, match=complaint):
            session.play(column)
    assert session.moves == [0] * 5
    assert session.redo()
    with pytest.raises(BoardError, match="column 1 is full"):
        session.play(0)


def test_undo_and_redo():
    session = after((3, 2, 1))
    assert not session.can_redo
    assert session.undo()
    assert session.undo()
    assert (session.moves, session.player, session.can_redo) == ([3], "n_step", True)
    assert session.redo()
    assert session.moves == [3, 2]
    session.play(6)  # another move than the one taken back: there is nothing to redo any more
    assert not session.redo()
    assert session.moves == [3, 2, 6]
    for _ in range(3):
        assert session.undo()
    assert not session.undo()
    assert not session.can_undo
    assert session.board == Board()


def test_take_back_is_to_the_same_players_last_move():
    session = after((3, 2, 1, 0))
    assert session.take_back()
    assert session.moves == [3, 2]
    assert session.take_back(2)  # asked for by the one who is not to move
    assert session.moves == [3]
    assert not session.take_back(2)  # player 2 had no move before
    assert session.moves == [3]
    assert session.take_back(1)
    assert session.moves == []
    assert not session.take_back(1)


@pytest.mark.parametrize(("person", "left"), [(1, [3, 0, 3, 0, 3, 0]), (2, [3, 0, 3, 0, 3])])
def test_take_back_after_the_end(person, left):
    session = after((3, 0, 3, 0, 3, 0, 3))
    assert session.result
    assert session.take_back(person)
    assert session.moves == left
    assert session.result is None


def test_resigning_ends_the_game_and_can_be_taken_back():
    session = after((3, 2))
    session.resign(1)
    assert session.result == Outcome(2, Reason.RESIGNED)
    assert session.legal_moves == []
    with pytest.raises(BoardError, match="the game is over: you gave up"):
        session.play(0)
    with pytest.raises(BoardError, match="over already"):
        session.resign(2)
    assert not session.redo()
    assert session.undo()
    assert (session.result, session.moves) == (None, [3, 2])


def test_taking_back_a_resignation():
    own = after((3, 2))
    own.resign(1)
    assert own.take_back()
    assert own.moves == [3, 2]
    other = after((3, 2, 1))
    other.resign(1)  # while the agent thinks
    assert other.take_back(1)
    assert (other.moves, other.result) == ([3, 2], None)


def test_only_players_resign():
    with pytest.raises(BoardError, match="mark 0"):
        Session(Board()).resign(0)


def test_forfeit():
    session = after((3,))
    session.forfeit(2)
    assert session.result == Outcome(1, Reason.FORFEIT)


def test_another_game():
    session = Session(TicTacToe())
    for move in (4, 0, 2, 6):
        session.play(move)
    assert session.take_back()
    assert session.moves == [4, 0]
    with pytest.raises(ValueError, match="move 4 is not legal"):
        session.play(4)
    for move in (2, 3, 6):
        session.play(move)
    assert session.result == Outcome(1, Reason.LINE)


sizes = st.fixed_dictionaries({name: st.integers(1, 5) for name in ("rows", "columns", "inarow")})


@given(size=sizes, choices=st.lists(st.integers(0, 24)), back=st.integers(0, 5), gives_up=st.booleans())
def test_a_record_goes_on_where_it_was(size, choices, back, gives_up):
    session = Session(Board(**size), ("Ann", "perfect"))
    for choice in choices:
        if session.legal_moves:
            session.play(session.legal_moves[choice % len(session.legal_moves)])
    for _ in range(back):
        session.undo()
    if gives_up and session.result is None:
        session.resign(session.board.turn)
    again = Session.from_record(json.loads(json.dumps(session.to_record())))
    assert (again.board, again.moves, again.players) == (session.board, session.moves, session.players)
    assert (again.result, again.legal_moves) == (session.result, session.legal_moves)
    assert again.to_record() == session.to_record()


@given(back=st.integers(0, 12), moves=st.permutations([0, 1, 2, 3, 4, 5, 6, 0, 2, 4, 6, 1]))
def test_undo_then_redo_is_the_same_game(back, moves):
    session = Session(Board(inarow=7))
    for move in moves:
        session.play(move)
    board = session.board
    undone = sum(session.undo() for _ in range(back))
    assert undone == back
    assert session.board == Board.from_moves(moves[: 12 - back], inarow=7)
    while session.redo():
        pass
    assert (session.board, session.moves) == (board, moves)


def test_a_record_from_a_position_that_was_set_up():
    session = Session(Board.from_moves("4453"))
    session.play(0)
    again = Session.from_record(session.to_record())
    assert again.board == Board.from_moves("44531")
    assert again.moves == [0]


def test_the_record_of_a_match_goes_on_too():
    record = play_game([load_agent("one_step"), load_agent("random_legal")], {"columns": 5}, opening=(2,))
    session = Session.from_record(json.loads(record.to_json()))
    assert session.board == record.board
    assert session.moves == list(record.moves)


GOOD = after((3, 2)).to_record()


@pytest.mark.parametrize(
    "record",
    [
        [],
        {},
        {**GOOD, "configuration": {"rows": 6}},
        {**GOOD, "moves": 4},
        {**GOOD, "moves": ["x"]},
        {**GOOD, "players": ["you"]},
        {**GOOD, "result": {"reason": "resigned"}},
        {**GOOD, "start": {"cells": []}},
    ],
)
def test_what_is_no_record(record):
    with pytest.raises(InputError, match="not the record of a game"):
        Session.from_record(record)


def test_a_record_with_an_illegal_move():
    with pytest.raises(BoardError, match="column 8 does not exist"):
        Session.from_record({**GOOD, "moves": [3, 7]})


def test_agents_see_what_kaggle_shows():
    seen = []

    def spy(obs, config):
        seen.append((obs, config))
        obs.board[0] = 5  # spoils its copy only
        return 2

    session = after((3,), rows=4, columns=5, inarow=3)
    assert session.hint(spy, seconds=0.5) == 2
    obs, config = seen[0]
    assert obs.board[1:] == [0] * 17 + [1, 0]
    assert (obs.mark, obs.step, obs.remainingOverageTime) == (2, 1, 60)
    assert (config.rows, config.columns, config.inarow, config.actTimeout) == (4, 5, 3, 0.5)
    assert session.moves == [3]  # a hint is no move
    assert ask(lambda obs: obs["mark"], session.board) == 2


@pytest.mark.parametrize("answer", [0, 7, None, True, 3.0, []])
def test_answers_that_are_no_legal_move(answer):
    def agent():
        return answer

    with pytest.raises(AgentError, match=re.escape(f"answered {answer!r}, which is no column it can play")):
        ask(agent, Board.from_moves("111111"))


@pytest.mark.parametrize("error", [RuntimeError("out of ideas"), SystemExit("out of ideas")])
def test_an_agent_that_fails(error):
    def agent(obs):
        raise error

    with pytest.raises(AgentError, match=f"failed with {type(error).__name__}: out of ideas"):
        ask(agent, Board())


@pytest.mark.parametrize("spec", ["random_legal", "one_step", "kaggle:random"])
def test_agents_of_the_kit_are_asked_by_their_spec(spec):
    assert ask(load_agent(spec), Board.from_moves("44")) in range(7)


def test_the_cell_of_the_last_disc():
    assert last_cell(Board()) is None
    assert last_cell(Board.from_moves("44")) == (1, 3)
    assert last_cell(Board.from_moves("444444")) == (5, 3)
