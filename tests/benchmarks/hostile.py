"""How the games of the hostile agents of tests/bad_agents end, and after how long; beside one that behaves.

Time is Kaggle's, but for those that never answer in time: they get 0.3 s a move and no bank.
"""

from pathlib import Path
from time import perf_counter
from typing import Any
from unittest import mock

from evaluation import referee
from evaluation.isolation import open_agent, shortfall
from evaluation.records import GameRecord
from evaluation.referee import play_game

BAD = Path(__file__).parent.parent / "bad_agents"
LATE = ("endless_loop", "forges_its_clock", "ignores_signals", "sleeps_in_import", "stops_itself")
BEHAVES = Path(__file__).parents[2] / "agents" / "random_legal.py"


def rightmost(obs: Any, config: Any) -> int:
    return max(column for column in range(config.columns) if obs.board[column] == 0)


def played(path: Path) -> tuple[GameRecord, float]:
    """The game of an agent that moves first, and the seconds it took with starting and cleaning up."""
    late = path.stem in LATE
    start = perf_counter()
    with (
        mock.patch.object(referee, "OVERAGE_SECONDS", 0 if late else referee.OVERAGE_SECONDS),
        open_agent(str(path)) as agent,
    ):
        record = play_game([agent, rightmost], {"actTimeout": 0.3} if late else None)
    return record, perf_counter() - start


def run() -> None:
    print(f"  isolation: {shortfall() or 'complete'}")
    for path in [BEHAVES, *sorted(BAD.glob("*.py"))]:
        record, seconds = played(path)
        ending = f"forfeit: {record.ending}" if record.ending.is_forfeit else f"played on: {record.ending}"
        print(f"  {path.stem:24} {ending:20} {seconds:6.2f} s")
