"""Openings: distinct, fair, seeded, and as many as a board has."""

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.board import Board
from engine.native.solver import NativeSolver
from evaluation.openings import BALANCED_PLIES, PLIES, balance, openings, tournament_openings
from evaluation.referee import configuration

needs_core = pytest.mark.skipif(balance(configuration(rows=5), 8) != "balanced", reason="no native core here")


def board_after(opening, settings):
    return Board.from_moves(opening, settings["rows"], settings["columns"], settings["inarow"])


SETTINGS = st.builds(
    configuration,
    rows=st.integers(1, 7),
    columns=st.integers(1, 8),
    inarow=st.integers(1, 5),
    episodeSteps=st.integers(1, 12),
)


@given(SETTINGS, st.integers(0, 8), st.integers(0, 1000))
def test_openings_are_distinct_unfinished_and_without_a_win_at_hand(settings, plies, seed):
    found = openings(settings, 20, seed, plies)
    assert found[0] == ()
    assert len(found) <= 20
    boards = [board_after(opening, settings) for opening in found]
    for number, board in enumerate(boards):
        assert not {board, board.mirror()} & set(boards[:number])
    for opening, board in zip(found[1:], boards[1:], strict=True):
        assert len(opening) <= settings["episodeSteps"] - 2
        assert not board.is_over
        assert not any(board.play(column).winner for column in board.legal_moves())


def test_standard_openings_have_the_asked_number_of_discs():
    assert {len(opening) for opening in openings(configuration(), 200)[1:]} == {PLIES}
    assert {len(opening) for opening in openings(configuration(), 100, plies=7)[1:]} == {7}


def test_longer_ones_follow_when_a_length_is_used_up():
    lengths = [len(opening) for opening in openings(configuration(), 1000)[1:]]
    assert lengths == sorted(lengths)
    assert set(lengths) == {4, 5}
    assert 500 < lengths.count(4) <= 568  # there are 568, mirror images once


def test_the_seed_decides():
    first = openings(configuration(), 50, seed=1)
    assert openings(configuration(), 50, seed=1) == first
    assert openings(configuration(), 30, seed=1) == first[:30]
    assert len(set(openings(configuration(), 50, seed=2)) & set(first)) < 25


def test_no_plies_means_the_empty_board():
    assert openings(configuration(), 50, plies=0) == [()]


@pytest.mark.parametrize(
    ("settings", "count"),
    [
        ({"rows": 1, "columns": 1}, 1),
        ({"rows": 1, "columns": 1, "inarow": 1}, 1),
        ({"inarow": 1}, 1),
        ({"rows": 2, "columns": 2}, 7),  # 1, 1, 2 and 3 after 0 to 3 plies
        ({"rows": 30, "columns": 1}, 30),
        ({"inarow": 2}, 5),  # the first four columns; after two discs somebody can win
        ({"episodeSteps": 2}, 1),
        ({"episodeSteps": 3}, 5),
    ],
)
def test_small_boards_have_few(settings, count):
    assert len(openings(configuration(**settings), 50)) == count


def balanced(count, plies=BALANCED_PLIES, seed=3, **settings):
    """Openings of a tournament, checked to be distinct, and how far each is from a draw."""
    config = configuration(**settings)
    found = list(islice(tournament_openings(config, seed, plies), count))
    boards = [board_after(opening.moves, config) for opening in found]
    assert len({min(str(board), str(board.mirror())) for board in boards}) == count
    solver = NativeSolver(config["rows"], config["columns"], config["inarow"])
    scores = [abs(solver.score(board)) for board in boards]
    for opening, score in zip(found, scores, strict=True):
        assert opening.imbalance in (None, score)
    return found, scores


@needs_core
def test_those_of_a_tournament_are_drawn():
    found, scores = balanced(4)
    assert {len(opening.moves) for opening in found} == {BALANCED_PLIES}
    assert set(scores) == {0}
    assert next(tournament_openings(configuration(), 4, BALANCED_PLIES)) != found[0]


@needs_core
def test_those_of_a_small_board_are_drawn_then_nearly_then_any():
    found, scores = balanced(510, plies=6, rows=4, columns=4)
    lengths = [len(opening.moves) for opening in found]
    assert set(lengths[:490]) == {6}
    assert set(lengths) == {6, 7}
    assert scores[:350] == [0] * 350
    known = [opening.imbalance for opening in found if opening.imbalance is not None]
    assert known == sorted(known)
    assert found[-1].imbalance is None


@needs_core
def test_the_number_that_is_wanted_changes_none_before():
    config = configuration(rows=3, columns=4, inarow=3)  # won by the first mover: few are drawn
    first = list(islice(tournament_openings(config, 0, 4), 60))
    again = tournament_openings(config, 0, 4)
    assert [next(again) for _ in first] == first


@needs_core
@pytest.mark.parametrize(
    ("settings", "plies", "kind"),
    [
        ({}, 8, "balanced"),
        ({}, 0, "the empty board"),
        ({"rows": 7}, 8, "random (the exact solver takes too long with more than 34 cells empty)"),
        ({"inarow": 5}, 8, "random (the exact solver takes too long with more than 20 cells empty)"),
        ({"rows": 5, "episodeSteps": 20}, 8, "random (episodeSteps ends games early)"),
        ({"rows": 5}, 8, "balanced"),
    ],
)
def test_which_kind_is_said(settings, plies, kind):
    assert balance(configuration(**settings), plies) == kind
