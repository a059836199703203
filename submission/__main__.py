"""python -m submission: bundle an agent into one file."""

from __future__ import annotations

from pathlib import Path

import typer

from evaluation.console import run
from submission.bundle import write_bundle

STRONGEST = "deepening"
SUBMISSION = Path("main.py")

app = typer.Typer(add_completion=False)
app.command("bundle")(write_bundle)


@app.callback(invoke_without_command=True)
def submit(context: typer.Context) -> None:
    """Make a file for Kaggle and check it. Without a command: the strongest agent, checked and measured."""
    if context.invoked_subcommand is None:
        write_bundle(STRONGEST, SUBMISSION)


if __name__ == "__main__":
    run(app)
