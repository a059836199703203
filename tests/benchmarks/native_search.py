"""The native search against the readable one, and how far it sees in a move's time."""

from collections.abc import Callable
from functools import partial
from math import inf
from time import process_time

from engine.board import Board
from engine.clock import move_seconds, now
from engine.native.search import NativeSearch, weighted_windows
from engine.search import SearchResult, alpha_beta, iterative_deepening
from engine.windows import PRESETS, window_evaluation

BOARDS = [Board.from_moves(moves) for moves in ("", "44444326")]
PEERS = ("lesson_n_step", "article")
DEPTH = 9
FAR = 12


def timed(search: Callable[[Board], SearchResult]) -> tuple[float, list[tuple[int, ...]]]:
    """Processor seconds for all boards, and their best columns."""
    start = process_time()
    columns = [search(board).best_moves for board in BOARDS]
    return process_time() - start, columns


def run() -> None:
    print(
        f"{DEPTH} moves deep on {len(BOARDS)} standard boards, the readable search without and with a table:"
    )
    for name in PEERS:
        search, evaluate = (
            NativeSearch(6, 7, 4, weighted_windows(PRESETS[name])),
            window_evaluation(PRESETS[name]),
        )
        search.alpha_beta(Board(), 1)  # loads the core
        native, quick = timed(partial(search.alpha_beta, depth=DEPTH))
        plain, slow = timed(partial(alpha_beta, depth=DEPTH, evaluate=evaluate))
        tabled, _ = timed(
            partial(
                iterative_deepening,
                evaluate=evaluate,
                deadline=inf,
                until=lambda result: result.depth == DEPTH,
                table_size=10**6,
            )
        )
        print(f"{name:16} {plain:6.2f} s, {tabled:6.2f} s, native {native * 1000:5.2f} ms: ", end="")
        print(f"{plain / native:6.0f} and {tabled / native:4.0f} times as fast", end="")
        print("" if quick == slow else ", BUT OTHER COLUMNS")
    print(f"{FAR} moves deep from the empty board, and the depth reached in {move_seconds(2, 60):g} s:")
    for name, weights in PRESETS.items():
        search = NativeSearch(6, 7, 4, weighted_windows(weights))
        start = process_time()
        result = search.alpha_beta(Board(), FAR)
        seconds = process_time() - start
        reached = search.iterative_deepening(Board(), now() + move_seconds(2, 60)).depth
        print(f"{name:16} {seconds:5.3f} s, {result.nodes:9,} nodes; depth {reached}")
