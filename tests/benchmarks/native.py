"""The native core on the kit's positions against the readable solver, and BitBully where it is installed."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from time import process_time

from engine.board import Board
from engine.native.solver import NativeSolver
from engine.solver import ExactSolver

POSITIONS = Path(__file__).parent.parent / "positions"
# Positions for the core, the readable solver and BitBully: as many as take some seconds.
SETS = {
    "end-easy": (1000, 200, 200),
    "middle-easy": (1000, 100, 200),
    "middle-medium": (1000, 10, 100),
    "begin-easy": (300, 20, 100),
    "begin-medium": (100, 1, 10),
    "begin-hard": (40, 0, 1),
}
Find = Callable[[str], tuple[float, int, int]]  # of moves: seconds, score, nodes; with tables emptied before


def run() -> None:
    native = by_kit(NativeSolver())
    peers = [("readable", by_kit(ExactSolver()))]
    if find_spec("bitbully"):
        peers.append(("BitBully", by_bitbully()))
    print("Processor time in one thread; a peer in how many times as long, on so many of the positions")
    print(f"{'set':14}{'positions':>10}{'mean':>13}{'nodes':>11}{'nodes/s':>9}")
    for name, (count, *some) in SETS.items():
        rows = scored(name, count)
        seconds, nodes = measure(rows, native)
        speed = nodes / seconds / 1e6
        print(
            f"{name:14}{len(rows):10}{seconds * 1e6:10,.1f} us{nodes:11,.0f}{speed:7.1f} M",
            end="",
            flush=True,
        )
        for (peer, find), few in zip(peers, some, strict=False):
            if few:
                ratio = measure(rows[:few], find)[0] / measure(rows[:few], native)[0]
                print(f"   {peer} {ratio:,.0f} ({few})", end="", flush=True)
        print()


def measure(rows: list[tuple[str, int]], find: Find) -> tuple[float, float]:
    """Mean seconds and nodes a position. Raises `AssertionError` for a wrong score."""
    seconds, nodes = 0.0, 0
    for moves, expected in rows:
        time, score, visited = find(moves)
        assert score == expected, moves
        seconds += time
        nodes += visited
    return seconds / len(rows), nodes / len(rows)


def by_kit(solver: NativeSolver | ExactSolver) -> Find:
    def find(moves: str) -> tuple[float, int, int]:
        board = Board.from_moves(moves)
        solver.forget()
        start = process_time()
        score = solver.score(board)
        return process_time() - start, score, solver.nodes

    return find


def by_bitbully() -> Find:
    from bitbully import bitbully_core

    solver = bitbully_core.BitBullyCore()

    def find(moves: str) -> tuple[float, int, int]:
        board = bitbully_core.BoardCore()
        for digit in moves:
            board.play(int(digit) - 1)
        solver.resetTranspositionTable()
        solver.resetNodeCounter()
        start = process_time()
        score = solver.mtdf(board, 0)
        return process_time() - start, score, solver.getNodeCounter()

    return find


def scored(name: str, count: int) -> list[tuple[str, int]]:
    lines = (POSITIONS / f"{name}.txt").read_text().splitlines()[:count]
    return [(moves, int(score)) for moves, score in map(str.split, lines)]
