"""What Debug prints: values as minimax has them, and what the agents' own searches found."""

from time import perf_counter

import pytest

from engine.board import Board
from engine.search import alpha_beta, minimax
from evaluation.loading import load_agent
from play.debug import EVALUATE, column_values, explain, overhear
from play.session import ask


@pytest.mark.parametrize("moves", ["", "44", "4433", "12345", "111111", "443355"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_values_of_the_columns_are_minimax(moves, depth, monkeypatch):
    monkeypatch.setattr("play.debug.SECONDS", 1e9)  # however slow the machine is
    board = Board.from_moves(moves)
    reached, values = column_values(board, depth)
    found = minimax(board, depth, EVALUATE)
    assert reached == depth
    assert list(values) == board.legal_moves()
    assert max(values.values()) == found.value
    best = tuple(column for column, value in values.items() if value == found.value)
    assert best == found.best_moves


def test_a_large_board_is_not_searched_for_long():
    started = perf_counter()
    reached, values = column_values(Board(20, 20, 5), 1000)
    assert 1 <= reached < 1000
    assert len(values) == 20
    assert perf_counter() - started < 60  # a search of that depth would not end


@pytest.mark.parametrize("native", [True, False])
def test_an_agents_search_is_overheard(native):
    agent = load_agent(f"n_step:N_STEPS=2,NATIVE={native}")
    heard = overhear(agent)
    board = Board.from_moves("4433")
    column = ask(agent, board)
    assert [found.depth for found in heard] == [2]
    assert column in heard[0].best_moves
    assert heard[0].value == alpha_beta(board, 2, agent.__globals__["EVALUATE"]).value


def test_another_copy_of_the_agent_is_not_overheard():
    heard = overhear(load_agent("n_step:N_STEPS=1"))
    ask(load_agent("n_step:N_STEPS=1"), Board())
    assert heard == []


def test_agents_without_a_search():
    for agent in (load_agent("random_legal"), load_agent("kaggle:random"), min):
        assert overhear(agent) == []


def test_the_lines():
    board = Board.from_moves("4433")
    found = alpha_beta(board, 2, EVALUATE)
    text = explain(board, 4, "n_step", 1, found).splitlines()
    assert text[0] == "move 5, n_step: column 5"
    assert text[1].startswith("values at depth 1: 1: ")
    assert text[2] == f"n_step searched 2 deep: value {found.value:g}, {found.nodes} nodes"
    assert len(explain(board, 4, "you", 1).splitlines()) == 2
