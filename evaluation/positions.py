"""Positions whose every move has a known exact score: to be read from files, and how the kit's own was made.

A file holds JSON lines, each a position of the standard board:

    board        42 marks 0, 1 or 2, the top row first, as Kaggle shows it
    score        the exact score for the side to move (see `evaluation.analysis`)
    move_scores  those of the seven columns, -99 for a full one; "move score" is read as well

`python -m evaluation.positions > FILE` makes `positions.jsonl` again, byte for byte, in some minutes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from pathlib import Path
from random import Random
from typing import Any

from engine.board import Board, BoardError
from engine.search import forced_moves
from evaluation.analysis import Analyst, Scores, position_key, sign
from evaluation.errors import InputError

POSITIONS = Path(__file__).with_name("positions.jsonl")
"""The kit's own: of 0 to 40 discs, 25 each as far as there are."""

PER_PLY = 25
FULL = -99
SCORE_KEYS = ("move_scores", "move score")
MISSES = 500
"""Draws in a row without a new position after which those of a ply count as used up."""

CELLS, COLUMNS = 42, 7
WRITE = "positions are JSON lines with board, score and move_scores"


@dataclass(frozen=True)
class Position:
    """A position and its exact scores.

    Attributes:
        number: the line it is on, from 1.
        board: the position, its game not over.
        scores: of every column for the side to move, None for a full one.
    """

    number: int
    board: Board
    scores: Scores

    @property
    def best(self) -> int:
        """The score of the position."""
        return max(score for score in self.scores if score is not None)

    def to_json(self) -> str:
        """One line. `read_positions` undoes it."""
        scores = [FULL if score is None else score for score in self.scores]
        line = {"board": self.board.to_flat(), "score": self.best, "move_scores": scores}
        return json.dumps(line, separators=(",", ":"))


def read_positions(path: Path = POSITIONS) -> list[Position]:
    """The positions of a file. Raises `InputError` naming the first line that cannot be used."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text: {WRITE}") from None
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found.append(_position(number, line))
            except ValueError as error:
                raise InputError(f"{path}, line {number}: {error}") from None
    if not found:
        raise InputError(f"{path} holds no positions: {WRITE}")
    return found


def holds_positions(path: Path) -> bool:
    """Whether a file begins with a position."""
    try:
        with path.open(encoding="utf-8-sig") as lines:
            _position(1, lines.readline(10_000))
    except (OSError, ValueError):
        return False
    return True


def _position(number: int, line: str) -> Position:
    """The position on a line. Raises `ValueError`."""
    entry = _object(line)
    key = next((key for key in SCORE_KEYS if key in entry), SCORE_KEYS[0])
    for name in ("board", "score", key):
        if name not in entry:
            raise ValueError(f"{name} is missing")
    board = _board(_whole_numbers(entry, "board", CELLS))
    listed = _whole_numbers(entry, key, COLUMNS)
    scores = tuple(None if score == FULL else score for score in listed)
    for column, score in enumerate(scores):
        _check_score(board, column, score)
    position = Position(number, board, scores)
    if type(entry["score"]) is not int or entry["score"] != position.best:
        raise ValueError(f"score is {json.dumps(entry['score'])}, but the best move's is {position.best}")
    return position


def _object(line: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(entry, dict):
        raise ValueError("not a JSON object with board, score and move_scores")
    return entry


def _whole_numbers(entry: dict[str, Any], name: str, length: int) -> list[int]:
    value = entry[name]
    if not isinstance(value, list) or any(type(each) is not int for each in value):
        raise ValueError(f"{name} is no list of whole numbers")
    if len(value) != length:
        raise ValueError(f"{name} has {len(value)} numbers, not {length}")
    return value


def _board(cells: list[int]) -> Board:
    """The position that is to be played on. Raises `BoardError` or `ValueError`."""
    board = Board.from_flat(cells)
    first, second = cells.count(1), cells.count(2)
    if first - second not in (0, 1):
        raise BoardError(f"{first} discs of player 1 and {second} of player 2: they move in turn, 1 first")
    if board.is_over:
        raise ValueError("the game is over")
    return board


def _check_score(board: Board, column: int, score: int | None) -> None:
    """Raises `ValueError` for a score that cannot be that of a move."""
    if (score is None) == (column in board.legal_moves()):
        what = "is not full" if score is None else f"is full: its score must be {FULL}"
        raise ValueError(f"column {column + 1} {what}")
    if score is None:
        return
    shape = board.geometry
    win = shape.win_score(board.ply + 1)
    if board.play(column).winner:
        if score != win:
            raise ValueError(f"column {column + 1} wins at once: its score must be {win}, not {score}")
    elif not -shape.win_score(board.ply + 2) <= score < max(win, 1):
        raise ValueError(f"column {column + 1}: with {board.ply} discs no move has the score {score}")


def build(seed: int = 0, per_ply: int = PER_PLY) -> Iterator[Position]:
    """Positions of all plies, no two the same or mirror images, each with a real choice.

    They come from games of two players who make a win at once, or stop one, and move at random otherwise;
    one position in four from games of random moves throughout, where such chances are left. Those in which
    the value is at stake (a move that wins, draws or loses more than another) are taken first; a ply that
    has too few is filled up with others in which the moves' scores differ.
    """
    analyst = Analyst(seconds=inf)
    number = 0
    for ply in range(CELLS - 1):  # with one column left there is no choice
        for board, scores in _of_ply(analyst, Random(f"positions {seed} {ply}"), ply, per_ply):
            number += 1
            yield Position(number, board, scores)


def _of_ply(analyst: Analyst, random: Random, ply: int, count: int) -> list[tuple[Board, Scores]]:
    found, others = list[tuple[Board, Scores]](), list[tuple[Board, Scores]]()
    seen = set[int]()
    misses = 0
    while len(found) < count and misses < MISSES:
        board = _play(random, ply, is_sensible=random.random() < 0.75)
        if board.is_over:
            continue
        misses += 1
        key, _ = position_key(board)
        if key in seen:
            continue
        seen.add(key)
        scores = analyst.scores(board)
        assert scores
        of_moves = {score for score in scores if score is not None}
        if len(set(map(sign, of_moves))) > 1:
            found.append((board, scores))
            misses = 0
        elif len(of_moves) > 1:
            others.append((board, scores))
    return found + others[: count - len(found)]


def _play(random: Random, plies: int, is_sensible: bool) -> Board:
    """The board after so many moves, or after fewer if the game ends before."""
    board = Board()
    while board.ply < plies and not board.is_over:
        forced = forced_moves(board) if is_sensible else []
        board = board.play(random.choice(forced or board.legal_moves()))
    return board


if __name__ == "__main__":
    for each in build():
        print(each.to_json(), flush=True)
