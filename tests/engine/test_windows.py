import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.board import Board
from engine.windows import (
    ARTICLE,
    LESSON_N_STEP,
    LESSON_ONE_STEP,
    NOTEBOOK,
    PRESETS,
    VIDEO,
    Weights,
    count_windows,
    evaluate_windows,
    preset,
    window_evaluation,
)
from tests.engine.straightforward_windows import HEURISTICS, count_one_by_one

STANDARD = (6, 7, 4)
SIZES = [
    STANDARD,
    (1, 1, 1),
    (1, 1, 2),
    (1, 9, 3),
    (9, 1, 4),
    (2, 2, 3),
    (3, 3, 1),
    (3, 3, 2),
    (3, 3, 3),
    (4, 5, 3),
    (4, 5, 2),
    (5, 4, 3),
    (6, 6, 5),
    (7, 8, 6),
    (4, 12, 4),
    (9, 9, 8),
    (5, 5, 6),
    (5, 4, 100),
    (10, 11, 7),
    (15, 15, 5),
]

# X has won with the bottom row; O has three in the row above it, with room on both sides.
#   . . . . . . .
#   . . . O O O .
#   . . . X X X X
WON = Board.from_moves("4455667")


def grid_of(board: Board) -> np.ndarray:
    return np.reshape(board.to_flat(), (board.geometry.rows, board.geometry.columns))


def random_game(rng: random.Random, rows: int, columns: int, inarow: int) -> Board:
    """A position of a random game, the end of one among them."""
    board = Board(rows, columns, inarow)
    for _ in range(rng.randint(0, rows * columns)):
        if board.is_over:
            break
        board = board.play(rng.choice(board.legal_moves()))
    return board


def random_filling(rng: random.Random, rows: int, columns: int, inarow: int) -> Board:
    """Discs without a game behind them: both players may have lines, one many more discs than the other."""
    stacks = [
        [rng.choice((1, 1, 1, 2, 2)) for _ in range(rng.randint(0, rows))] + [0] * rows
        for _ in range(columns)
    ]
    cells = [stacks[column][rows - 1 - row] for row in range(rows) for column in range(columns)]
    return Board.from_flat(cells, rows, columns, inarow, turn=rng.choice((1, 2)))


@st.composite
def boards(draw: st.DrawFn) -> Board:
    rows, columns = draw(st.integers(1, 8)), draw(st.integers(1, 8))
    inarow = draw(st.integers(1, 9))
    make = draw(st.sampled_from((random_game, random_filling)))
    return make(random.Random(draw(st.integers(0, 2**32))), rows, columns, inarow)


def some_boards(size: tuple[int, int, int], count: int) -> list[Board]:
    rng = random.Random(repr(size))
    return [make(rng, *size) for make in (random_game, random_filling) for _ in range(count)]


def test_the_presets_are_named_as_the_references() -> None:
    assert PRESETS == {
        "lesson_one_step": LESSON_ONE_STEP,
        "lesson_n_step": LESSON_N_STEP,
        "video": VIDEO,
        "article": ARTICLE,
        "notebook": NOTEBOOK,
    }
    assert PRESETS.keys() == HEURISTICS.keys()


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("lesson_one_step", 1_000_000 + 1 - 200, 2 - 100),
        ("lesson_n_step", 1_000_000 + 1 - 200, 2 - 100 - 10_000),
        ("video", 100 + 5 + 2 - 8 + 3, 10 + 2 - 4 + 3),
        ("article", 1000 + 10 + 3 - 14 + 3, 20 + 3 - 7 + 3),
        ("notebook", 1_000_000 + 100 + 1 - 201, 201 - 101 - 1_000_000),
    ],
)
def test_values_worked_out_by_hand(name: str, first: int, second: int) -> None:
    assert evaluate_windows(WON, 1, preset(name)) == first
    assert evaluate_windows(WON, 2, preset(name)) == second


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_presets_give_the_numbers_of_the_references(name: str, size: tuple[int, int, int]) -> None:
    for board in some_boards(size, 150 if size == STANDARD else 12):
        for player in (1, 2):
            expected = HEURISTICS[name](grid_of(board), player, size[2])
            assert evaluate_windows(board, player, PRESETS[name]) == expected, (size, player, board.to_flat())


@given(boards(), st.sampled_from(sorted(PRESETS)), st.sampled_from((1, 2)))
def test_presets_give_the_numbers_of_the_references_on_any_board(
    board: Board, name: str, player: int
) -> None:
    expected = HEURISTICS[name](grid_of(board), player, board.geometry.inarow)
    assert evaluate_windows(board, player, PRESETS[name]) == expected


@given(boards(), st.lists(st.integers(-(10**20), 10**20), min_size=7, max_size=7), st.sampled_from((1, 2)))
def test_any_weights_are_the_weighted_sum_of_counts(board: Board, weights: list[int], player: int) -> None:
    grid, inarow = grid_of(board), board.geometry.inarow
    columns = board.geometry.columns
    counts = [
        count_windows(grid, inarow - missing, mark, inarow) if inarow > missing else 0
        for mark in (player, 3 - player)
        for missing in (0, 1, 2)
    ]
    counts.append(sum(int((grid[:, c] == player).sum()) for c in {columns // 2, (columns - 1) // 2}))
    expected = sum(weight * count for weight, count in zip(weights, counts, strict=True))
    assert evaluate_windows(board, player, Weights(*weights)) == expected


@given(boards(), st.integers(0, 10), st.sampled_from((1, 2)))
def test_count_windows_counts_as_window_by_window(board: Board, count: int, mark: int) -> None:
    grid, inarow = grid_of(board), board.geometry.inarow
    assert count_windows(grid, count, mark, inarow) == count_one_by_one(grid, count, mark, inarow)


@pytest.mark.parametrize(
    ("kind", "first", "second"),
    [
        ("four", 1, 0),
        ("three", 1, 2),
        ("two", 1, 1),
        ("other_four", 0, 1),
        ("other_three", 2, 1),
        ("other_two", 1, 1),
        ("centre", 1, 1),
    ],
)
def test_each_weight_alone(kind: str, first: int, second: int) -> None:
    weights = Weights(**{kind: -7})
    assert evaluate_windows(WON, 1, weights) == -7 * first
    assert evaluate_windows(WON, 2, weights) == -7 * second


def test_count_windows_by_hand() -> None:
    grid = grid_of(WON)
    assert [count_windows(grid, count, 1, 4) for count in (2, 3, 4)] == [1, 1, 1]
    assert [count_windows(grid, count, 2, 4) for count in (2, 3, 4)] == [1, 2, 0]
    assert count_windows(np.zeros((6, 7), int), 0, 1, 4) == 69
    assert type(count_windows(grid, 3, 1, 4)) is int


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.float64])
def test_count_windows_takes_any_type_of_number(dtype: type) -> None:
    assert count_windows(grid_of(WON).astype(dtype), 3, 2, 4) == 2
    assert count_windows(np.full((300, 1), 2, dtype), 250, 1, 250) == 0


@given(boards(), st.sampled_from(sorted(PRESETS)), st.sampled_from((1, 2)))
def test_a_mirrored_board_has_the_same_value(board: Board, name: str, player: int) -> None:
    weights = PRESETS[name]
    assert evaluate_windows(board, player, weights) == evaluate_windows(board.mirror(), player, weights)


@given(boards(), st.sampled_from(sorted(PRESETS)), st.sampled_from((1, 2)))
def test_the_player_to_move_does_not_matter(board: Board, name: str, player: int) -> None:
    shape = board.geometry
    other_turn = Board.from_flat(
        board.to_flat(), shape.rows, shape.columns, shape.inarow, turn=3 - board.turn
    )
    assert evaluate_windows(board, player, PRESETS[name]) == evaluate_windows(
        other_turn, player, PRESETS[name]
    )


@given(boards())
def test_the_notebook_is_as_good_for_one_as_bad_for_the_other(board: Board) -> None:
    assert evaluate_windows(board, 1, NOTEBOOK) == -evaluate_windows(board, 2, NOTEBOOK)


def test_the_lessons_do_not_see_both_players_alike() -> None:
    assert evaluate_windows(WON, 1, LESSON_N_STEP) != -evaluate_windows(WON, 2, LESSON_N_STEP)


@pytest.mark.parametrize("weights", PRESETS.values(), ids=PRESETS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_an_empty_board_is_worth_nothing(weights: Weights, size: tuple[int, int, int]) -> None:
    assert evaluate_windows(Board(*size), 1, weights) == 0


def test_windows_of_one_cell_are_counted_in_all_four_directions() -> None:
    board = Board.from_moves([2], 3, 3, inarow=1)
    assert evaluate_windows(board, 1, LESSON_N_STEP) == 4_000_000
    assert evaluate_windows(board, 2, LESSON_N_STEP) == -40_000
    assert evaluate_windows(board, 1, Weights(three=1, two=1, other_three=1, other_two=1)) == 0


def test_a_window_of_two_cells_with_one_disc_is_a_three_and_there_are_no_twos() -> None:
    board = Board.from_moves([0], 2, 2, inarow=2)
    assert evaluate_windows(board, 1, Weights(three=1)) == 3  # right, up and up right
    assert evaluate_windows(board, 2, Weights(other_three=1)) == 3
    assert evaluate_windows(board, 1, Weights(two=1, other_two=1)) == 0


def test_where_no_line_fits_only_the_centre_counts() -> None:
    board = Board.from_moves([1, 0, 1], 3, 3, inarow=4)
    assert evaluate_windows(board, 1, VIDEO) == 6
    assert evaluate_windows(board, 2, VIDEO) == 0


@pytest.mark.parametrize(("columns", "middle"), [(7, {3}), (8, {3, 4}), (2, {0, 1}), (1, {0})])
def test_the_centre_is_the_middle_column_or_both(columns: int, middle: set[int]) -> None:
    for column in range(columns):
        board = Board.from_moves([column], 4, columns, inarow=9)
        assert evaluate_windows(board, 1, Weights(centre=3)) == (3 if column in middle else 0)
        assert evaluate_windows(board, 2, Weights(centre=3)) == 0


def test_values_are_plain_and_exact_whole_numbers() -> None:
    value = evaluate_windows(WON, 1, Weights(four=10**30, centre=1))
    assert type(value) is int
    assert value == 10**30 + 1


@pytest.mark.parametrize("weights", [VIDEO, ARTICLE], ids=["video", "article"])
def test_terminal_values_replace_the_windows_of_ended_games(weights: Weights) -> None:
    evaluate = window_evaluation(weights)
    assert evaluate(WON, 1) == 10**14
    assert evaluate(WON, 2) == -(10**13)
    draw = Board.from_moves("12", 1, 2)
    assert draw.is_draw
    assert (evaluate(draw, 1), evaluate_windows(draw, 1, weights)) == (0, 3)
    going_on = Board.from_moves("445566")
    assert evaluate(going_on, 1) == evaluate_windows(going_on, 1, weights)


def test_terminal_values_are_for_won_drawn_and_lost_games_in_this_order() -> None:
    evaluate = window_evaluation(Weights(terminal=(3, 2, 1)))
    draw = Board.from_moves("12", 1, 2)
    assert [evaluate(WON, 1), evaluate(draw, 1), evaluate(draw, 2), evaluate(WON, 2)] == [3, 2, 2, 1]


@pytest.mark.parametrize("weights", [LESSON_ONE_STEP, LESSON_N_STEP, NOTEBOOK])
def test_without_terminal_values_the_windows_value_ended_games_too(weights: Weights) -> None:
    assert window_evaluation(weights)(WON, 2) == evaluate_windows(WON, 2, weights)


def test_an_unknown_preset_is_named_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"no preset 'lesson': there are lesson_one_step, .*, notebook"):
        preset("lesson")


def test_weights_are_values() -> None:
    assert replace(LESSON_ONE_STEP, other_four=-10_000) == LESSON_N_STEP
    with pytest.raises(AttributeError):
        VIDEO.four = 1  # type: ignore[misc]
