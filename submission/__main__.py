"""python -m submission: bundle an agent into one file, check that file, measure it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from evaluation import console
from evaluation.match import play_match
from evaluation.result import MatchResult
from submission import send
from submission.bundle import write_bundle
from submission.check import STANDARD, check
from submission.check import Progress as Progressing
from submission.conditions import Wanted
from submission.report import Report
from submission.where import where

STRONGEST = "perfect"
SUBMISSION = Path("main.py")
NO_CLIENT = "It needs Kaggle's own command (pip install kaggle) and your API token."

# Opponents of the short benchmark, how many games against each, and seconds a move: a tenth of Kaggle's.
BENCHMARK = {"random_legal": 20, "n_step": 40, "kaggle:negamax": 20}
BENCHMARK_SECONDS = 0.2

app = typer.Typer(add_completion=False)
app.command("bundle")(write_bundle)
app.command("where")(where)


@app.command("check")
def check_file(
    path: Annotated[Path, typer.Argument(help="main.py, or a .tar.gz with main.py at its root")],
    *,
    positions: Annotated[
        int | None, typer.Option(min=1, help="random positions, however long they take; else 4,000 in 20 s")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Load and play a file as Kaggle does, and name what is wrong with it. Exit status 1 on a failure."""
    report = _checked(path, positions)
    if json:
        print(report.to_json())
    else:
        console.output.print(report)
    if not report.ok:
        raise typer.Exit(1)


@app.command("send")
def send_file(
    path: Annotated[Path, typer.Argument(help="main.py, or a .tar.gz with main.py at its root")],
    *,
    message: Annotated[str, typer.Option("--message", "-m", help="what Kaggle shows beside it")],
) -> None:
    """Check a file and submit it with Kaggle's own command. A file that fails is not sent: exit status 1."""
    out = console.output
    report = _checked(path)
    if not report.ok:
        out.print(report)
        out.print("It was not sent.", style="bold red")
        raise typer.Exit(1)
    out.print(report.verdict())
    if send.is_installed():
        raise typer.Exit(send.send(path, message))
    out.print(f"\n  {send.shown(path, message)}\n", soft_wrap=True, style="bold green", markup=False)
    out.print(NO_CLIENT, style="dim")


@app.callback(invoke_without_command=True)
def submit(context: typer.Context) -> None:
    """Make a file for Kaggle and check it. Without a command: the strongest agent, checked and measured."""
    if context.invoked_subcommand is not None:
        return
    out = console.output
    out.rule(f"[bold]1. Bundle {STRONGEST} into {SUBMISSION}", align="left")
    write_bundle(STRONGEST, SUBMISSION)
    out.print()
    out.rule("[bold]2. Load and play it as Kaggle does", align="left")
    report = _checked(SUBMISSION)
    out.print(report)
    if not report.ok:
        raise typer.Exit(1)
    out.print()
    out.rule("[bold]3. Measure it", align="left")
    out.print(_record(_benchmark(SUBMISSION)))
    out.print(
        f"Each opening was played from both seats. A move had {BENCHMARK_SECONDS:g} s, so as not to keep "
        "you waiting; on Kaggle it has 2 s.\n",
        style="dim",
    )
    out.rule("[bold]4. Submit it", align="left")
    out.print(f"\n  {send.shown(SUBMISSION, STRONGEST)}\n", soft_wrap=True, style="bold green", markup=False)
    out.print(NO_CLIENT, style="dim")


def _checked(path: Path, positions: int | None = None) -> Report:
    settings = replace(STANDARD, random=Wanted(positions, math.inf)) if positions else STANDARD
    with _checklist() as progress:
        return check(path, settings, progress)


@contextmanager
def _checklist() -> Iterator[Progressing]:
    """The steps of a check on standard error, ticked off one by one; nothing where that is no terminal."""
    terminal = Console(stderr=True, highlight=False)
    tasks = {}
    with Progress(
        SpinnerColumn(finished_text="[green]✓"),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.fields[detail]}"),
        console=terminal,
        disable=not terminal.is_terminal,
        transient=True,
    ) as bars:

        def progress(step: str, detail: str | None) -> None:
            if step not in tasks:
                tasks[step] = bars.add_task(step, total=1, detail="")
            bars.update(tasks[step], detail=detail or "", completed=detail is None)

        yield progress


def _benchmark(path: Path) -> list[MatchResult]:
    """Short matches of the file against the opponents of `BENCHMARK`, in two processes."""
    results = []
    with console.progress() as bar:
        for opponent, games in BENCHMARK.items():
            task = bar.add_task(f"against {opponent}", total=games)
            result = play_match(
                str(path),
                opponent,
                games,
                jobs=2,
                configuration={"actTimeout": BENCHMARK_SECONDS},
                on_game=lambda *_, task=task: bar.advance(task),
            )
            results.append(result)
    return results


def _record(results: list[MatchResult]) -> Table:
    """The results as a table."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    # Narrow enough for 80 columns, which is what a log has.
    for title in ("Against", "games", "won", "drawn", "lost", "score", "95 % interval", "slowest"):
        table.add_column(title, justify="left" if title == "Against" else "right", no_wrap=True)
    for result in results:
        low, high = (100 * bound for bound in result.interval)
        table.add_row(
            result.names[1],
            *map(str, (len(result.records), *result.total)),
            f"{100 * result.score:.1f}",
            f"{low:.1f} - {high:.1f}",
            f"{result.times[0].longest:.2f} s",
        )
    return table


if __name__ == "__main__":
    console.run(app)
