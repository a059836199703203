"""All positions of a ply, and those one move later."""

import pytest

from engine.board import Board
from engine.book_positions import children, positions

# Distinct positions after 0 to 7 plies (OEIS A212693).
COUNTS = (1, 7, 49, 238, 1120, 4263, 16422, 54859)


def name(board: Board) -> tuple[int, int]:
    mirror = board.mirror()
    return min((board.own, board.other), (mirror.own, mirror.other))


@pytest.mark.parametrize("plies", range(8))
def test_positions_are_all_positions_and_none_twice(plies: int) -> None:
    boards = [Board.from_moves(moves) for moves in positions(plies)]
    names = {name(board) for board in boards}
    assert len(names) == len(boards)
    assert not any(board.winner for board in boards)
    mirrored = {(board.own, board.other) for board in boards} | {
        (board.mirror().own, board.mirror().other) for board in boards
    }
    lost = {
        (child.own, child.other)
        for moves in (positions(plies - 1) if plies else [])
        for board in (Board.from_moves(moves), Board.from_moves(moves).mirror())
        for child in map(board.play, board.legal_moves())
        if child.winner
    }
    assert len(mirrored) + len(lost) == COUNTS[plies]


def test_children_are_the_positions_one_move_later() -> None:
    assert children(positions(4)) == positions(5)
    assert children(["121212", "44"]) == [
        "1212122",
        "1212123",
        "1212124",
        "1212125",
        "1212126",
        "1212127",
    ] + [f"44{column}" for column in "1234"]


def test_children_of_chosen_moves() -> None:
    assert children(["44", "45"], {"44": [0, 3], "45": []}) == ["441", "444"]
