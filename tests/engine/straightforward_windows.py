"""The five reference heuristics the straightforward way: window by window, on numpy grids.

They are the oracle of engine/windows.py and its peer in the benchmark, so they share nothing with it. Grids
have shape (rows, columns), row 0 on top. Three means one disc less than a full line, two means two less.
"""

from collections.abc import Iterator

import numpy as np


def windows_of(grid: np.ndarray, inarow: int) -> Iterator[list[int]]:
    rows, columns = grid.shape
    reach = inarow - 1
    for row in range(rows):
        for col in range(columns - reach):
            yield [grid[row, col + i] for i in range(inarow)]
    for row in range(rows - reach):
        for col in range(columns):
            yield [grid[row + i, col] for i in range(inarow)]
    for row in range(rows - reach):
        for col in range(columns - reach):
            yield [grid[row + i, col + i] for i in range(inarow)]
    for row in range(reach, rows):
        for col in range(columns - reach):
            yield [grid[row - i, col + i] for i in range(inarow)]


def is_window_of(window: list[int], discs: int, mark: int) -> bool:
    return window.count(mark) == discs and window.count(0) == len(window) - discs


def count_one_by_one(grid: np.ndarray, discs: int, mark: int, inarow: int) -> int:
    return sum(is_window_of(window, discs, mark) for window in windows_of(grid, inarow))


def count_kind(grid: np.ndarray, discs: int, mark: int, inarow: int) -> int:
    return count_one_by_one(grid, discs, mark, inarow) if discs > 0 else 0


def lesson_one_step(grid: np.ndarray, mark: int, inarow: int) -> float:
    threes = count_kind(grid, inarow - 1, mark, inarow)
    fours = count_kind(grid, inarow, mark, inarow)
    their_threes = count_kind(grid, inarow - 1, 3 - mark, inarow)
    return threes - 1e2 * their_threes + 1e6 * fours


def lesson_n_step(grid: np.ndarray, mark: int, inarow: int) -> float:
    their_fours = count_kind(grid, inarow, 3 - mark, inarow)
    return lesson_one_step(grid, mark, inarow) - 1e4 * their_fours


def centre_discs(grid: np.ndarray, mark: int) -> int:
    columns = grid.shape[1]
    middle = {columns // 2, (columns - 1) // 2}
    return sum(list(grid[:, col]).count(mark) for col in middle)


def sum_of_windows(
    grid: np.ndarray, mark: int, inarow: int, *, four: int, three: int, two: int, their_three: int
) -> int:
    """How the video and the article value a board: each window on its own, and 3 for a disc in the centre."""
    score = 3 * centre_discs(grid, mark)
    for window in windows_of(grid, inarow):
        own, theirs, empty = window.count(mark), window.count(3 - mark), window.count(0)
        if own == inarow:
            score += four
        elif own and own == inarow - 1 and empty == 1:
            score += three
        elif own and own == inarow - 2 and empty == 2:
            score += two
        if theirs and theirs == inarow - 1 and empty == 1:
            score += their_three
    return score


def video(grid: np.ndarray, mark: int, inarow: int) -> int:
    return sum_of_windows(grid, mark, inarow, four=100, three=5, two=2, their_three=-4)


def article(grid: np.ndarray, mark: int, inarow: int) -> int:
    return sum_of_windows(grid, mark, inarow, four=1000, three=10, two=3, their_three=-7)


def notebook(grid: np.ndarray, mark: int, inarow: int) -> int:
    """Segments with discs of both players are worth nothing, others as much as they hold, with a sign."""
    total = 0
    for segment in windows_of(grid, inarow):
        ones, twos = segment.count(1), segment.count(2)
        if ones and twos:
            continue
        discs = max(ones, twos)
        worth = {inarow: 1_000_000, inarow - 1: 100, inarow - 2: 1}.get(discs, 0) if discs else 0
        total += worth if (1 if ones else 2) == mark else -worth
    return total


HEURISTICS = {
    "lesson_one_step": lesson_one_step,
    "lesson_n_step": lesson_n_step,
    "video": video,
    "article": article,
    "notebook": notebook,
}
