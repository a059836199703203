"""The state of the board on the screen, at any moment."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.board import Board
from play.scene import Fall, Scene, Values
from play.session import Session


def scene(*moves: int, people: frozenset[int] = frozenset({1}), **size: int) -> Scene:
    session = Session(Board(**size))
    for move in moves:
        session.play(move)
    return Scene(session, people)


@given(cells=st.integers(1, 20), moments=st.lists(st.floats(0, 3), min_size=2))
def test_a_disc_falls_from_the_top_and_comes_to_rest(cells, moments):
    fall = Fall(column=0, height=0, mark=1, cells=cells, start=5.0)
    assert fall.above(5.0) == cells
    assert fall.above(fall.end) < 1e-6
    assert fall.above(fall.end + 9) == 0
    assert all(0 <= fall.above(5.0 + moment) <= cells for moment in moments)
    landing = next(time for time in range(10_000) if fall.above(5.0 + time / 1000) < cells * 0.01)
    heights = [fall.above(5.0 + time / 1000) for time in range(landing)]
    assert heights == sorted(heights, reverse=True)
    bounce = [fall.above(5.0 + time / 1000) for time in range(landing + 20, 3000)]
    assert max(bounce) < cells * 0.06


@given(st.floats(-10, 10))
def test_a_disc_takes_less_than_a_second_on_the_standard_board(start):
    assert Fall(column=0, height=0, mark=1, cells=6, start=start).end - start < 1


def test_dropping_starts_a_fall_to_the_right_place():
    game = scene(3, 3)
    game.drop(3, now=7.0)
    assert game.fall == Fall(column=3, height=2, mark=1, cells=4, start=7.0)
    assert game.is_falling(7.1)
    assert not game.is_falling(8.0)


def test_the_cursor_passes_over_full_columns_and_round_the_ends():
    game = scene(1, 1, rows=2, columns=3)
    assert game.cursor == 1
    game.move_cursor(1)
    assert game.cursor == 2
    game.move_cursor(1)
    assert game.cursor == 0
    game.move_cursor(1)
    assert game.cursor == 2
    game.point(1)  # full: it stays
    assert game.cursor == 2


def test_the_cursor_leaves_a_column_that_has_just_been_filled():
    game = scene(1, rows=2, columns=3, people=frozenset({1, 2}))
    game.drop(1, now=0)
    assert game.cursor == 2


def test_a_person_drops_only_in_turn_on_room_and_when_nothing_falls():
    game = scene(0, 0, rows=2, columns=3, inarow=3)
    assert game.can_drop(1, now=0)
    assert not game.can_drop(0, now=0)
    game.drop(1, now=0)
    assert not game.can_drop(1, now=9)  # the agent's turn
    game.drop(1, now=9)
    assert not game.can_drop(2, now=9.01)
    assert game.can_drop(2, now=11)


def test_undo_goes_back_to_the_persons_turn_from_wherever_it_is():
    assert not scene().undo()
    assert not scene(3, people=frozenset({2})).undo()
    for moves, left in (((3,), []), ((3, 4), []), ((3, 4, 3), [3, 4]), ((0, 1, 0, 1, 0, 1, 0), [0, 1] * 3)):
        game = scene(*moves)
        assert game.undo()
        assert game.session.moves == left
        assert game.person_to_move


def test_redo_goes_on_to_the_persons_next_turn():
    game = scene(3, 4, 3, 4)
    game.undo()
    game.undo()
    assert game.redo()
    assert game.session.moves == [3, 4]
    assert game.redo()
    assert not game.redo()


def test_undo_of_watched_agents_is_one_move_and_a_pause():
    game = scene(3, 4, people=frozenset())
    assert game.agent_to_move
    assert game.undo()
    assert game.session.moves == [3]
    assert game.paused
    assert not game.agent_to_move


def test_headlines_name_the_winner():
    assert scene(3).headline == ""
    assert scene(0, 1, 0, 1, 0, 1, 0).headline == "You win!"
    assert scene(0, 1, 0, 1, 0, 1, 0, people=frozenset({2})).headline == "you wins"  # the name given
    assert scene(0, 1, rows=1, columns=2).headline == "A draw"
    forfeited = scene(3)
    forfeited.session.forfeit(2)
    assert forfeited.headline == "agent gave up"


def test_a_proven_win_ranks_above_any_estimate_and_a_proven_loss_below():
    values = Values({0: 500.0, 1: 2, 2: -3, 3: 0, 4: -80.0}, frozenset({1, 2, 3}), 4)
    assert sorted(values.scores, key=values.rank) == [2, 4, 3, 0, 1]
    assert values.best == {1}
    assert not values.all_exact
    assert Values({0: 1, 2: 1}, frozenset({0, 2}), 4).best == {0, 2}
