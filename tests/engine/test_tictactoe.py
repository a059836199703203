"""Tic-tac-toe on the general search: its rules, its tactics, and that it is never beaten."""

import doctest
from functools import cache
from math import inf

import pytest

import engine.tictactoe
from engine.search import alpha_beta, iterative_deepening, minimax
from engine.tictactoe import TicTacToe, evaluate_tictactoe


def position(*moves: int) -> TicTacToe:
    game = TicTacToe()
    for move in moves:
        game = game.play(move)
    return game


def best_moves(game: TicTacToe, depth: int = 9) -> tuple[int, ...]:
    return alpha_beta(game, depth, evaluate_tictactoe).best_moves


@pytest.mark.parametrize(
    ("moves", "best"),
    [
        ((0, 3, 1, 4), (2,)),  # X has two in the top row, O two in the middle one
        ((0, 4, 1, 5, 8), (3,)),  # O wins, which is better than to block
        ((2, 0, 4), (6,)),  # and here there is nothing to win: O blocks
    ],
)
@pytest.mark.parametrize("depth", [2, 3, 9])
def test_takes_the_win_in_one_and_else_blocks(moves: tuple[int, ...], best: tuple[int, ...], depth: int):
    assert best_moves(position(*moves), depth) == best


def test_win_in_two_by_a_double_threat():
    game = position(0, 1, 6, 3)  # X holds the left corners, O stands between them
    result = alpha_beta(game, 3, evaluate_tictactoe)
    assert result.best_moves == (4, 8)
    for move in result.best_moves:
        for reply in game.play(move).legal_moves():
            assert alpha_beta(game.play(move).play(reply), 1, evaluate_tictactoe).value > 0


def test_prefers_the_quicker_win_and_the_longer_resistance():
    assert evaluate_tictactoe(position(0, 3, 1, 4, 2), 1) > evaluate_tictactoe(
        position(0, 3, 8, 4, 1, 6, 2), 1
    )
    assert evaluate_tictactoe(position(0, 3, 1, 4, 2), 2) < evaluate_tictactoe(
        position(0, 3, 8, 4, 1, 6, 2), 2
    )


def test_the_game_is_a_draw_and_every_first_move_holds_it():
    result = alpha_beta(TicTacToe(), 9, evaluate_tictactoe)
    assert (result.value, result.best_moves) == (0, tuple(range(9)))
    assert len(result.principal_variation) == 9


def test_alpha_beta_looks_at_a_small_part_of_the_tree():
    first = position(4)
    every, pruned = (search(first, 8, evaluate_tictactoe) for search in (minimax, alpha_beta))
    assert (pruned.value, pruned.best_moves) == (every.value, every.best_moves)
    assert pruned.nodes < every.nodes / 4


@pytest.mark.parametrize("seat", [1, 2])
def test_never_loses_whatever_the_opponent_plays(seat: int):
    endings = set()

    @cache
    def walk(game: TicTacToe) -> None:
        if not game.legal_moves():
            endings.add(game.winner)
        elif game.turn == seat:
            for move in chosen(game):
                walk(game.play(move))
        else:
            for move in game.legal_moves():
                walk(game.play(move))

    def chosen(game: TicTacToe) -> tuple[int, ...]:
        return iterative_deepening(game, evaluate_tictactoe, inf, table_size=10_000).best_moves

    walk(TicTacToe())
    assert endings == {0, seat}


@pytest.mark.parametrize(("moves", "illegal"), [((4,), 4), ((), 9), ((), -1), ((0, 3, 1, 4, 2), 8)])
def test_illegal_moves_are_refused_and_named(moves: tuple[int, ...], illegal: int):
    with pytest.raises(ValueError, match=f"move {illegal} is not legal"):
        position(*moves).play(illegal)


def test_there_are_5478_positions():
    level, seen = {TicTacToe()}, set()
    while level:
        seen |= level
        level = {game.play(move) for game in level for move in game.legal_moves()}
    assert len(seen) == 5478


def test_the_docstring_shows_what_happens():
    assert doctest.testmod(engine.tictactoe).failed == 0
