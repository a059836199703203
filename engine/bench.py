"""What `python -m engine bench` reads and tells: positions with their scores, and how fast it was."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from engine.console import UsageError

POSITIONS = Path(__file__).parent.parent / "tests" / "positions"
KIT_SETS = ("end-easy", "middle-easy", "middle-medium", "begin-easy", "begin-medium", "begin-hard")


@dataclass(frozen=True)
class Scored:
    """A position of a set: the line it is on, its moves and its exact score."""

    line: int
    moves: str
    score: int


def kit_sets() -> list[Path]:
    """The kit's own sets, of the standard board, in the order of how long they take. Raises `UsageError`."""
    if not POSITIONS.is_dir():
        raise UsageError(
            f"the kit's own positions are not in {POSITIONS}: name a file of `moves score` lines"
        )
    return [POSITIONS / f"{name}.txt" for name in KIT_SETS]


def scored_positions(path: Path) -> list[Scored]:
    """The positions of a file, written as `solve` does. Raises `UsageError`.

    A score alone is that of the empty board; the scores of columns are passed over.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        match = re.fullmatch(r"\s*([\d,]*)\s+(-?\d+)(?:\s*|:.*)", line)
        if not match:
            raise UsageError(f"{path}, line {number}: {line[:60]!r} is not `moves score`, as in `4455 18`")
        found.append(Scored(number, match[1], int(match[2])))
    if not found:
        raise UsageError(f"{path} holds no positions: write one `moves score` a line")
    return found


@dataclass
class Measured:
    """How a set was solved, as far as it was."""

    name: str
    positions: int = 0
    wrong: int = 0
    nodes: int = 0
    seconds: float = 0
    longest: float = 0  # seconds of a position

    def add(self, seconds: float, nodes: int, right: bool) -> None:
        """One more position."""
        self.positions += 1
        self.wrong += not right
        self.nodes += nodes
        self.seconds += seconds
        self.longest = max(self.longest, seconds)

    def figures(self) -> dict[str, str | int | float]:
        """What programs are told; at least one position was added."""
        return {
            "name": self.name,
            "positions": self.positions,
            "correct": self.positions - self.wrong,
            "mean_seconds": self.seconds / self.positions,
            "longest_seconds": self.longest,
            "mean_nodes": self.nodes / self.positions,
            "nodes_per_second": self.nodes / self.seconds,
        }

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.positions:,} position{'s' * (self.positions != 1)}, {self.wrong:,} wrong: "
            f"mean {_time(self.seconds / self.positions)}, longest {_time(self.longest)}, "
            f"mean {self.nodes / self.positions:,.0f} nodes, "
            f"{self.nodes / self.seconds / 1e6:.2f} million nodes/s"
        )


def _time(seconds: float) -> str:
    unit, name = next(((u, n) for u, n in ((1, "s"), (1e-3, "ms")) if seconds >= u), (1e-6, "us"))
    return f"{seconds / unit:,.1f} {name}"
