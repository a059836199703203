"""What an agent is shown, by attribute only: the documented fields, and none that it must not rely on."""

from types import SimpleNamespace

from engine.board import Board


def observe(board: Board, bank: float = 60) -> SimpleNamespace:
    """The observation of the player to move; `bank` is its `remainingOverageTime`."""
    return SimpleNamespace(remainingOverageTime=bank, step=board.ply, board=board.to_flat(), mark=board.turn)


def configure(board: Board, act_timeout: float = 2) -> SimpleNamespace:
    """Kaggle's configuration without `timeout` and `agentTimeout`, which mean nothing there."""
    shape = board.geometry
    return SimpleNamespace(
        episodeSteps=1000,
        actTimeout=act_timeout,
        runTimeout=1200,
        columns=shape.columns,
        rows=shape.rows,
        inarow=shape.inarow,
    )
