"""Nodes and time of the searches against minimax, and the depth `deepening` reaches in a move's time."""

from math import inf
from time import perf_counter

from agents import deepening
from engine.board import Board
from engine.clock import move_seconds
from engine.search import alpha_beta, iterative_deepening, minimax
from engine.windows import ARTICLE, window_evaluation

BOARDS = [Board.from_moves(moves) for moves in ("", "4444", "44444326", "1234567")]
DEPTH = 5
EVALUATE = window_evaluation(ARTICLE)
SEARCHES = {
    "minimax": lambda board: minimax(board, DEPTH, EVALUATE),
    "alpha_beta": lambda board: alpha_beta(board, DEPTH, EVALUATE),
    "deepening with a table": lambda board: iterative_deepening(
        board, EVALUATE, inf, until=lambda result: result.depth == DEPTH, table_size=10**6
    ),
}


def run() -> None:
    print(f"{len(BOARDS)} standard boards, {DEPTH} moves deep, the article's evaluation:")
    peer: tuple[int, float] | None = None
    for name, search in SEARCHES.items():
        start = perf_counter()
        nodes = sum(search(board).nodes for board in BOARDS)
        seconds = perf_counter() - start
        peer = peer or (nodes, seconds)
        print(
            f"{name:22} {nodes:6} nodes, {peer[0] / nodes:4.1f} times fewer than minimax; "
            f"{seconds:5.2f} s, {peer[1] / seconds:4.1f} times as fast"
        )
    budget = move_seconds(2, 60)
    print(f"the agent deepening in the {budget:.2g} s of a move:")
    for board in BOARDS:
        start = perf_counter()
        result = deepening.think(board, start + budget)
        speed = result.nodes / (perf_counter() - start)
        print(f"{board.status():18} depth {result.depth:2}, {speed / 1000:3.0f} thousand nodes a second")
