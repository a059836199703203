"""What the commands share: the terminal, one-line errors, Ctrl-C."""

from __future__ import annotations

import sys
from typing import NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text
from typer.exceptions import TyperException

from engine.board import BoardError
from evaluation.errors import InputError

# Answers go to standard output, progress and errors to standard error.
output = Console(highlight=False)
messages = Console(stderr=True, highlight=False)


def progress(quiet: bool = False) -> Progress:
    """A bar on standard error for tasks with a description and a total; none where that is no terminal.

    It keeps to the standard error of now: while an agent moves, `sys.stderr` is the agent's.
    """
    terminal = Console(file=sys.stderr, highlight=False)
    return Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        TimeRemainingColumn(),
        console=terminal,
        disable=quiet or not terminal.is_terminal,
        transient=True,
        refresh_per_second=4,
        redirect_stdout=False,
        redirect_stderr=False,
    )


def run(app: typer.Typer) -> NoReturn:
    """Runs a command line program and ends the process with its exit status.

    A person's mistake gives one line and status 2. Ctrl-C gives one line and status 130; a command
    that has something to save or to report does so and lets `KeyboardInterrupt` pass on.
    """
    try:
        status = app(standalone_mode=False)
    except (InputError, BoardError) as error:
        _fail(str(error))
    except TyperException as error:  # an option or argument that is missing, unknown or malformed
        _fail(f"{error.format_message().rstrip('.')} (--help tells more)")
    if status == 130:  # what typer makes of KeyboardInterrupt
        messages.print("stopped")
    sys.exit(status)


def _fail(message: str) -> NoReturn:
    messages.print(Text.assemble(("error: ", "bold red"), message), soft_wrap=True)
    sys.exit(2)
