"""The searches against the plain definition, on real and on random games."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.board import Board
from engine.search import (
    SearchResult,
    alpha_beta,
    forced_moves,
    iterative_deepening,
    minimax,
    quiescence,
    winning_moves,
)
from engine.tictactoe import TicTacToe, evaluate_tictactoe

SIZES = [(6, 7, 4), (4, 4, 3), (3, 3, 3), (5, 4, 4), (2, 2, 2), (4, 9, 5), (1, 1, 1), (1, 1, 4), (3, 5, 9)]


def random_board(rng: random.Random, *size: int) -> Board:
    board = Board(*size)
    for _ in range(rng.randrange(board.geometry.cells + 1)):
        if moves := board.legal_moves():
            board = board.play(rng.choice(moves))
    return board


def won_or_lost(board: Board, player: int) -> float:
    """The quickest win is best, and nothing but the end of a game counts."""
    worth = 1000.0 - board.ply
    return 0.0 if not board.winner else worth if board.winner == player else -worth


def centred(board: Board, player: int) -> float:
    middle = board.geometry.full_columns[board.geometry.columns // 2]
    return won_or_lost(board, player) + (board.discs(player) & middle).bit_count()


def lopsided(board: Board, player: int) -> float:
    """Own and opponent's discs count for different things, as in the lessons' heuristics."""
    fear = -3.5 * (board.discs(3 - player) & sum(board.geometry.bottoms)).bit_count()
    return (100.0 if board.winner == player else 10.0 if board.winner else 0.0) + fear


def scattered(board: Board, player: int) -> float:
    return hash((board.own, board.other, board.turn, player)) % 1001 - 500.0


def tied(board: Board, player: int) -> float:
    return hash((board.own, board.other, board.turn, player)) % 3 - 1.0


EVALUATIONS = [won_or_lost, centred, lopsided, scattered, tied]


@cache
def drawn(seed: str, *bounds: int) -> int:
    return random.Random(seed).randrange(*bounds)


@dataclass(frozen=True)
class RandomGame:
    """Any finite game: states lead to higher states, and `seed` says which, who moves and who wins.

    A state may be reached on many ways and after different numbers of moves, and a player may move twice.
    """

    seed: int
    state: int = 0
    size: int = 30

    def draw(self, what: str, *bounds: int) -> int:
        return drawn(f"{self.seed} {self.state} {what}", *bounds)

    @property
    def turn(self) -> int:
        return self.draw("turn", 1, 3)

    @property
    def winner(self) -> int:
        return self.draw("winner", 3) if self.is_over else 0

    @property
    def is_over(self) -> bool:
        return self.state >= self.size or (self.state > 0 and self.draw("over", 6) == 0)

    def legal_moves(self) -> list[int]:
        return [] if self.is_over else list(range(self.draw("moves", 1, 5)))

    def play(self, move: int) -> "RandomGame":
        return RandomGame(self.seed, self.state + self.draw(f"step {move}", 1, 9), self.size)


def value_of_random_game(game: RandomGame, player: int) -> float:
    return float(game.draw(f"value for {player}", -2, 3))


def answer(result: SearchResult) -> tuple[float, tuple[int, ...]]:
    return result.value, result.best_moves


def check_variation(game: Any, evaluate: Callable[[Any, int], float], result: SearchResult) -> None:
    """It starts with a best move, is legal, and leads to the value."""
    assert result.principal_variation[:1] == () or result.principal_variation[0] in result.best_moves
    end = game
    for move in result.principal_variation:
        assert move in end.legal_moves()
        end = end.play(move)
    assert len(result.principal_variation) == result.depth or not end.legal_moves()
    assert evaluate(end, game.turn) == result.value


def to_depth(depth: int) -> Callable[[SearchResult], bool]:
    return lambda result: result.depth == depth


@pytest.mark.parametrize("evaluate", EVALUATIONS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_all_searches_agree_on_random_positions(size: tuple[int, int, int], evaluate: Any):
    rng = random.Random(f"{size} {evaluate.__name__}")
    for _ in range(20):
        board = random_board(rng, *size)
        depth = rng.randrange(1, 5 if board.geometry.columns < 7 else 4)
        every = minimax(board, depth, evaluate)
        pruned = alpha_beta(board, depth, evaluate)
        assert answer(pruned) == answer(every), f"depth {depth}\n{board}"
        assert pruned.nodes <= every.nodes
        check_variation(board, evaluate, every)
        check_variation(board, evaluate, pruned)
        for table_size in (0, 3, 100_000):
            deepened = iterative_deepening(
                board,
                evaluate,
                inf,
                until=to_depth(depth),
                table_size=table_size,
                order=lambda board: board.legal_moves()[::-1],
                key=lambda board: (board.own, board.other),
            )
            assert answer(deepened) == answer(every), f"depth {depth}, table of {table_size}\n{board}"
            check_variation(board, evaluate, deepened)


@given(seed=st.integers(0, 10**6), depth=st.integers(1, 7), table_size=st.sampled_from([0, 1, 10, 10_000]))
def test_all_searches_agree_on_random_games(seed: int, depth: int, table_size: int):
    game = RandomGame(seed)
    every = minimax(game, depth, value_of_random_game)
    pruned = alpha_beta(game, depth, value_of_random_game)
    deepened = iterative_deepening(
        game, value_of_random_game, inf, until=to_depth(depth), table_size=table_size
    )
    for result in (every, pruned, deepened):
        assert answer(result) == answer(every)
        check_variation(game, value_of_random_game, result)


@given(seed=st.integers(0, 10**6), table_size=st.sampled_from([0, 1, 10, 10_000]))
def test_deepening_ends_exactly_when_deeper_search_finds_nothing_new(seed: int, table_size: int):
    game = RandomGame(seed, size=18)
    result = iterative_deepening(game, value_of_random_game, inf, table_size=table_size)
    assert answer(result) == answer(minimax(game, 18, value_of_random_game))
    check_variation(game, value_of_random_game, result)


def test_deepening_ends_with_the_game():
    result = iterative_deepening(TicTacToe(), evaluate_tictactoe, inf, table_size=10_000)
    assert (result.depth, result.value) == (9, 0)
    assert iterative_deepening(TicTacToe().play(0), evaluate_tictactoe, inf).depth == 8


def test_deepening_ends_early_where_it_is_asked_to():
    board = Board.from_moves("11111", rows=6, columns=2)  # one cell is left on the left
    forced = Board.from_moves("111111", rows=6, columns=2)
    for position, depth in ((board, 4), (forced, 1)):
        moves = position.legal_moves()
        result = iterative_deepening(
            position,
            won_or_lost,
            inf,
            until=lambda result: len(moves) == 1 or result.depth == 4,  # noqa: B023
        )
        assert result.depth == depth
        assert result.principal_variation[0] in moves


def test_pruning_and_the_table_spare_most_of_the_work():
    board = Board.from_moves("4434")
    every = minimax(board, 5, centred).nodes
    pruned = alpha_beta(board, 5, centred).nodes
    with_table, without = (
        iterative_deepening(board, centred, inf, until=to_depth(7), table_size=size).nodes
        for size in (10**6, 0)
    )
    assert pruned < every / 5
    assert with_table < without / 2


def test_moves_tried_first_are_the_best_of_the_depth_before():
    tried: list[int] = []
    board = Board.from_moves("4434")

    def spy(position: Board, player: int) -> float:
        if position.ply == board.ply + 2:
            tried.append(position.own ^ board.own)
        return centred(position, player)

    shallow = alpha_beta(board, 1, centred)
    iterative_deepening(board, spy, inf, until=to_depth(2), order=lambda board: board.legal_moves()[::-1])
    assert shallow.best_moves == (3,)
    assert tried[0] == board.play(3).other ^ board.own


@pytest.mark.parametrize("search", [minimax, alpha_beta])
@pytest.mark.parametrize("depth", [0, -1])
def test_a_depth_below_one_is_refused(search: Any, depth: int):
    with pytest.raises(ValueError, match=f"at least 1 move ahead, not {depth}"):
        search(Board(), depth, centred)


@pytest.mark.parametrize("moves", ["1212121", "112212"])
def test_a_finished_game_has_a_value_and_no_moves(moves: str):
    board = Board.from_moves(moves, rows=4 if len(moves) == 7 else 3, columns=2)
    assert board.is_over
    for result in (
        minimax(board, 3, won_or_lost),
        alpha_beta(board, 3, won_or_lost),
        iterative_deepening(board, won_or_lost, inf),
    ):
        assert answer(result) == (won_or_lost(board, board.turn), ())
        assert result.principal_variation == ()


def test_ties_at_the_root_are_all_found_and_only_they():
    """The second column is cut off with a bound equal to the first one's value: equal it is not."""
    values = {(0, 0): 5, (0, 1): 7, (1, 0): 5, (1, 1): 4, (2, 0): 9, (2, 1): 5}

    @dataclass(frozen=True)
    class Tree:
        path: tuple[int, ...] = ()
        winner: int = 0

        @property
        def turn(self) -> int:
            return len(self.path) % 2 + 1

        def legal_moves(self) -> range:
            return range((3, 2, 0)[len(self.path)])

        def play(self, move: int) -> "Tree":
            return Tree((*self.path, move))

    result = alpha_beta(Tree(), 2, lambda tree, _: values[tree.path])
    assert answer(result) == (5, (0, 2))


class TestDeadline:
    """A clock that ticks once every time it is read makes the deadline a number of evaluations."""

    @pytest.fixture
    def ticks(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        read = [0]

        def tick() -> int:
            read[0] += 1
            return read[0]

        monkeypatch.setattr("time.perf_counter", tick)
        return read

    @pytest.mark.parametrize("deadline", [-inf, 0, 1])
    def test_there_is_an_answer_when_the_deadline_has_passed_before_depth_1(
        self, ticks: list[int], deadline: float
    ):
        result = iterative_deepening(
            Board(), centred, deadline, order=lambda board: board.legal_moves()[::-1]
        )
        assert result == SearchResult(0, (0, 1, 2, 3, 4, 5, 6), (6,), 0, 0)
        assert ticks[0] == 1

    @pytest.mark.parametrize("deadline", [8, 9, 50, 200, 1000, 3000])
    def test_the_deepest_finished_search_counts(self, ticks: list[int], deadline: int):
        board = Board.from_moves("4434")
        result = iterative_deepening(board, scattered, deadline, table_size=1000)
        assert ticks[0] == deadline, "it stops at the first look at the clock that shows the deadline"
        assert result.depth >= 1
        assert answer(result) == answer(alpha_beta(board, result.depth, scattered))

        enough = ticks[0]
        iterative_deepening(board, scattered, inf, until=to_depth(result.depth + 1), table_size=1000)
        assert ticks[0] - enough >= deadline, "one depth more would not have fitted"

    def test_depth_1_fits_exactly(self, ticks: list[int]):
        assert iterative_deepening(Board(), centred, 7).depth == 0
        ticks[0] = 0
        assert iterative_deepening(Board(), centred, 8).depth == 1


class TestQuiescence:
    """Positions of the standard board, searched one move deep: what comes after is beyond the horizon."""

    def test_a_win_just_past_the_horizon_is_prevented(self):
        board = Board.from_moves("11223")  # X threatens 4; O is to move
        assert alpha_beta(board, 1, won_or_lost).best_moves == (0, 1, 2, 3, 4, 5, 6)
        assert alpha_beta(board, 1, quiescence(won_or_lost)).best_moves == (3,)

    def test_a_win_of_the_player_to_move_is_counted(self):
        board = Board.from_moves("112233")
        assert quiescence(won_or_lost)(board, 1) == won_or_lost(board.play(3), 1)
        assert quiescence(won_or_lost)(board, 2) == won_or_lost(board.play(3), 2)

    def test_a_forced_block_is_played_before_the_position_is_valued(self):
        board = Board.from_moves("11223")
        assert centred(board, 2) == 0
        assert quiescence(centred)(board, 2) == centred(board.play(3), 2) == 1

    def test_a_double_threat_is_lost_in_two(self):
        board = Board.from_moves("22334")  # X threatens 1 and 5
        assert forced_moves(board) == [0]
        assert quiescence(won_or_lost)(board, 2) == -(1000 - (board.ply + 2))

    def test_a_block_that_makes_a_threat_is_followed_further(self):
        board = Board.from_moves("271556")  # O threatens 4; X's block there threatens 3
        assert forced_moves(board) == [3]
        assert forced_moves(board.play(3)) == [2]
        assert quiescence(centred)(board, 1) == centred(board.play(3).play(2), 1)

    def test_the_only_move_that_does_not_hand_over_a_win_is_forced(self):
        """O threatens nothing yet, but every move of X except one lets O win."""
        board = Board.from_moves("222123", rows=4, columns=4, inarow=3)
        assert [winning_moves(board.play(move)) for move in board.legal_moves()] == [[0], [2], []]
        assert forced_moves(board) == [3]

    def test_a_quiet_position_is_valued_as_it_stands(self):
        board = Board.from_moves("4434")
        assert not forced_moves(board)
        assert quiescence(centred)(board, 1) == centred(board, 1)

    def test_a_finished_game_is_valued_as_it_stands(self):
        board = Board.from_moves("1122334")
        assert quiescence(won_or_lost)(board, 2) == won_or_lost(board, 2)

    def test_it_serves_any_game(self):
        game = TicTacToe().play(0).play(4).play(1)  # X threatens 2, and so on until the board is full
        assert forced_moves(game) == [2]
        assert quiescence(evaluate_tictactoe)(game, 1) == 0

    def test_a_game_may_bring_its_own_forced_moves(self):
        board = Board()
        evaluate = quiescence(centred, lambda position: [3] if position.ply < 5 else [])
        assert evaluate(board, 1) == 3

    @given(seed=st.integers(0, 10**6), depth=st.integers(1, 4))
    def test_it_is_an_evaluation_like_any_other(self, seed: int, depth: int):
        game = RandomGame(seed)
        evaluate = quiescence(value_of_random_game)
        every = minimax(game, depth, evaluate)
        deepened = iterative_deepening(game, evaluate, inf, until=to_depth(depth), table_size=100)
        assert answer(deepened) == answer(alpha_beta(game, depth, evaluate)) == answer(every)

    @given(seed=st.integers(0, 10**6))
    def test_forced_moves_are_the_wins_or_the_only_way_out(self, seed: int):
        game = RandomGame(seed)
        forced = forced_moves(game)
        wins = [move for move in game.legal_moves() if game.play(move).winner == game.turn]
        losing = [move for move in game.legal_moves() if winning_moves(game.play(move))]
        if wins:
            assert forced == wins
        elif forced:
            assert len(forced) == 1
            assert len(losing) == len(game.legal_moves()) or set(game.legal_moves()) - set(losing) == set(
                forced
            )
        else:
            assert len(game.legal_moves()) - len(losing) > 1 or game.is_over
