"""What the commands share: the terminal, one-line errors, Ctrl-C."""

from __future__ import annotations

import sys

import typer
from rich.console import Console
from rich.text import Text

from engine.board import BoardError
from evaluation.errors import InputError

# Answers go to standard output, progress and errors to standard error.
output = Console(highlight=False)
messages = Console(stderr=True, highlight=False)


def run(app: typer.Typer) -> None:
    """Runs a command line program to its end, and ends the process with its exit status.

    A person's mistake gives one line and status 2. Ctrl-C gives one line and status 130; a command
    that has something to save or to report does so and lets `KeyboardInterrupt` pass on.
    """
    try:
        app()
    except (InputError, BoardError) as error:
        messages.print(Text.assemble(("error: ", "bold red"), str(error)), soft_wrap=True)
        sys.exit(2)
    except SystemExit as end:
        if end.code == 130:  # typer has turned KeyboardInterrupt into this
            messages.print("stopped")
        raise
