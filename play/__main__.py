"""`python -m play`: a person against an agent, or two agents to watch, in a window or in the terminal."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Any

import typer

from evaluation import console
from evaluation.errors import InputError
from evaluation.loading import load_agent
from play import settings as stored
from play.terminal import play_connectx, play_tictactoe

app = typer.Typer(pretty_exceptions_enable=False, add_completion=False)

SPECS = "Easy, Medium, Expert, Perfect, n_step:N_STEPS=5, path/to/main.py or kaggle:negamax"


class Game(StrEnum):
    """What is played."""

    connectx = "connectx"
    tictactoe = "tictactoe"


class Begins(StrEnum):
    """Who moves first."""

    random = "random"
    you = "you"
    agent = "agent"


@app.command()
def play(
    *,
    terminal: Annotated[
        bool, typer.Option("--terminal", help="In the terminal instead of a window.")
    ] = False,
    agent: Annotated[str | None, typer.Option(metavar="SPEC", help=f"The opponent: {SPECS}.")] = None,
    watch: Annotated[
        tuple[str, str] | None, typer.Option(metavar="A B", help="Watch agent A, who begins, against B.")
    ] = None,
    begins: Annotated[Begins | None, typer.Option(help="Who moves first.")] = None,
    rows: Annotated[int | None, typer.Option(min=1)] = None,
    columns: Annotated[int | None, typer.Option(min=1)] = None,
    inarow: Annotated[int | None, typer.Option(min=1)] = None,
    seconds: Annotated[float | None, typer.Option(help="What the agent may take for a move.")] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Print values and searches of every move.")] = False,
    game: Annotated[Game, typer.Option(help="Tic-tac-toe is for the terminal.")] = Game.connectx,
) -> None:
    """Play against an agent. What is not given is taken from the settings file."""
    given: dict[str, Any] = {
        "opponent": agent and stored.spec_of(agent),
        "begins": begins and begins.value,
        "rows": rows,
        "columns": columns,
        "inarow": inarow,
        "seconds": seconds,
        "debug": debug or None,
    }
    if seconds is not None and seconds <= 0:
        raise InputError(f"--seconds {seconds:g} leaves no time for a move: give more than 0")
    if game is Game.tictactoe:
        _tictactoe(terminal, {**given, "watch": watch})
        return
    settings = replace(stored.load(), **{name: value for name, value in given.items() if value is not None})
    if watch:
        watch = stored.spec_of(watch[0]), stored.spec_of(watch[1])
    for spec in watch or (settings.spec,):
        load_agent(spec)  # whatever is wrong with it is told before anything is shown
    if terminal:
        play_connectx(settings, watch)
    else:
        from play.window import run

        run(settings, watch)


def _tictactoe(terminal: bool, given: dict[str, Any]) -> None:
    if not terminal:
        raise InputError("tic-tac-toe is played in the terminal: add --terminal")
    for name in ("opponent", "watch", "rows", "columns", "inarow", "seconds", "debug"):
        if given[name] is not None:
            option = "agent" if name == "opponent" else name
            raise InputError(f"--{option} does not go with tic-tac-toe: leave it out")
    play_tictactoe(given["begins"] or stored.load().begins)


if __name__ == "__main__":
    console.run(app)
