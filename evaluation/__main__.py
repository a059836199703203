"""`python -m evaluation`: matches and tournaments between agents."""

from __future__ import annotations

import os
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress as Bar
from rich.text import Text

from evaluation import console
from evaluation.accuracy import AccuracyInterrupted, AgentAccuracy, Answer, examine
from evaluation.analysis import SECONDS, Tally, memory_of
from evaluation.archive import GAMES_FILE
from evaluation.errors import InputError
from evaluation.explain import explanations, to_json
from evaluation.game_accuracy import GamesAccuracy, GamesInterrupted, judge_games
from evaluation.kaggle import render_html
from evaluation.live import Progress
from evaluation.loading import known_agents
from evaluation.match import MatchInterrupted, play_match
from evaluation.openings import BALANCED_PLIES, PLIES
from evaluation.positions import POSITIONS
from evaluation.records import GameRecord
from evaluation.report import gather, page_path, write_page
from evaluation.result import MatchResult
from evaluation.standings import TournamentResult
from evaluation.tournament import TournamentInterrupted, play_tournament

app = typer.Typer(pretty_exceptions_enable=False, add_completion=False)


class Referee(StrEnum):
    """Who runs the games."""

    fast = "fast"
    kaggle = "kaggle"


@app.callback()
def evaluation() -> None:
    """How well agents play."""


SPECS = "perfect, n_step:N_STEPS=5, path/to/main.py or kaggle:negamax"
TRUST = "Run agents given as files in this process, not isolated: faster."


@app.command()
def match(
    a: Annotated[str, typer.Argument(metavar="A", help=SPECS)],
    b: Annotated[str, typer.Argument(metavar="B", help="likewise")],
    *,
    games: Annotated[int, typer.Option(help="How many games; seats are swapped in pairs.")] = 100,
    seed: Annotated[int, typer.Option(help="What openings and random choices follow from.")] = 0,
    referee: Annotated[Referee, typer.Option(help="fast, or Kaggle's own environment.")] = Referee.fast,
    jobs: Annotated[int, typer.Option(help="How many processes play.")] = 1,
    rows: Annotated[int, typer.Option()] = 6,
    columns: Annotated[int, typer.Option()] = 7,
    inarow: Annotated[int, typer.Option()] = 4,
    act_timeout: Annotated[float | None, typer.Option(help="Seconds a move; 2 if not given.")] = None,
    opening_plies: Annotated[int, typer.Option(help="Discs set up before a game; 0 for none.")] = PLIES,
    html: Annotated[Path | None, typer.Option(help="Write a replay of the first game to this file.")] = None,
    trust: Annotated[bool, typer.Option("--trust", help=TRUST)] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Play A against B and print A's score with its 95 % interval."""
    if html and not html.absolute().parent.is_dir():
        raise InputError(f"there is no folder {html.absolute().parent} for --html {html}: make it first")
    configuration = {"rows": rows, "columns": columns, "inarow": inarow, "actTimeout": act_timeout}
    try:
        with _live_tally(games, quiet=json) as on_game:
            result = play_match(
                a,
                b,
                games,
                seed=seed,
                referee=referee.value,
                jobs=jobs,
                configuration=configuration,
                opening_plies=opening_plies,
                trusted=trust,
                on_game=on_game,
            )
    except MatchInterrupted as stop:
        _report(stop.result, json)
        raise
    _report(result, json)
    if html:
        html.write_text(render_html(result.records[0]), encoding="utf-8")
        console.messages.print(f"the first game is in {html}")


@app.command()
def tournament(
    agents: Annotated[list[str], typer.Argument(metavar="SPEC ...", help=SPECS)],
    *,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Games are kept here; again, to go on.")],
    games: Annotated[int, typer.Option(help="How many games every two agents play.")] = 100,
    jobs: Annotated[int | None, typer.Option(help="How many processes play; all processors.")] = None,
    cluster: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Of a dask scheduler.")] = None,
    gauntlet: Annotated[bool, typer.Option("--gauntlet", help="Only the first meets the others.")] = False,
    sprt: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="SCORE0 SCORE1", help="End a meeting when one of two scores is accepted."),
    ] = None,
    anchor: Annotated[str | None, typer.Option(metavar="SPEC", help="Rated 0; the first one.")] = None,
    seed: Annotated[int, typer.Option(help="What openings and random choices follow from.")] = 0,
    referee: Annotated[Referee, typer.Option(help="fast, or Kaggle's own environment.")] = Referee.fast,
    rows: Annotated[int, typer.Option()] = 6,
    columns: Annotated[int, typer.Option()] = 7,
    inarow: Annotated[int, typer.Option()] = 4,
    act_timeout: Annotated[float | None, typer.Option(help="Seconds a move; 2 if not given.")] = None,
    opening_plies: Annotated[
        int, typer.Option(help="Discs set up before a game; 0 for none.")
    ] = BALANCED_PLIES,
    trust: Annotated[bool, typer.Option("--trust", help=TRUST)] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Every two agents play a match; print ratings and a cross-table. Goes on where it was stopped."""
    with Progress() as progress:
        try:
            result = play_tournament(
                agents,
                games=games,
                out=out,
                jobs=jobs or os.cpu_count() or 1,
                cluster=cluster,
                gauntlet=gauntlet,
                sprt=sprt,
                anchor=anchor,
                seed=seed,
                referee=referee.value,
                configuration={"rows": rows, "columns": columns, "inarow": inarow, "actTimeout": act_timeout},
                opening_plies=opening_plies,
                trusted=trust,
                on_game=progress.on_game,
                on_opening=progress.on_opening,
            )
        except TournamentInterrupted as stop:
            progress.close()
            _report(stop.result, json)
            console.messages.print(f"{stop}; go on with\n  {_this_command()}", soft_wrap=True, markup=False)
            raise
    _report(result, json)


@app.command()
def accuracy(
    what: Annotated[
        str,
        typer.Argument(
            metavar="SPEC|DIR|FILE",
            help=f"An agent: {SPECS}. Or games: a tournament's DIR, records, replays.",
        ),
    ],
    *,
    positions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Ask for moves in these; the kit's own.")
    ] = None,
    count: Annotated[int | None, typer.Option(help="Only so many of the positions, evenly spread.")] = None,
    seed: Annotated[int, typer.Option(help="What the agent's random choices follow from.")] = 0,
    act_timeout: Annotated[float | None, typer.Option(help="Seconds a move; 2 if not given.")] = None,
    trust: Annotated[bool, typer.Option("--trust", help=TRUST)] = False,
    seconds: Annotated[
        float, typer.Option(min=0.001, help="How long a position of a game may be solved.")
    ] = SECONDS,
    jobs: Annotated[int, typer.Option(help="How many processes ask or solve.")] = 1,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Compare moves with perfect play: an agent's in solved positions, or those of games that were played."""
    path = Path(what)
    if path.suffix in (".json", ".jsonl") and not path.exists():
        raise InputError(f"there is no file {what}")
    is_agent = what in known_agents() or path.suffix == ".py" or not path.exists()
    if not is_agent and (positions or count):
        raise InputError(f"{what} holds games: --positions and --count are for an agent")
    result: AgentAccuracy | GamesAccuracy
    try:
        with console.progress(json) as bar:
            if is_agent:
                result = examine(
                    what,
                    positions or POSITIONS,
                    count=count,
                    seed=seed,
                    jobs=jobs,
                    configuration={"actTimeout": act_timeout},
                    trusted=trust,
                    on_answer=_told_of_answers(bar),
                )
            else:
                result = judge_games(
                    path,
                    seconds=seconds,
                    jobs=jobs,
                    keep=json,
                    tell=_complain,
                    on_game=_told_of_games(bar, path),
                )
    except (AccuracyInterrupted, GamesInterrupted) as stop:
        _report(stop.result, json)
        if not is_agent and (memory := memory_of(path)):
            _complain(f"what was solved is kept in {memory}: the same command goes on")
        raise
    _report(result, json)


def _told_of_answers(bar: Bar) -> Callable[[Answer, int], None]:
    """What shows each answer on a bar."""
    task = bar.add_task("", total=None)
    tally = Tally()

    def on_answer(answer: Answer, asked: int) -> None:
        nonlocal tally
        tally += answer.tally
        shares = f"best {100 * tally.best_share:.1f} %, value kept {100 * tally.kept_share:.1f} %"
        bar.update(task, advance=1, total=asked, description=shares)

    return on_answer


def _told_of_games(bar: Bar, source: Path) -> Callable[[GamesAccuracy], None]:
    """What shows the games judged on a bar; how many there are is known of a tournament."""
    total = None
    if memory := memory_of(source):
        with (memory.parent / GAMES_FILE).open("rb") as lines:
            total = sum(1 for _ in lines)
    task = bar.add_task("solving", total=total)
    return lambda result: bar.update(task, completed=result.games)


@app.command()
def explain(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="LOG_OR_REPLAY",
            help="An episode's replay, the log of its agent, both, or a traceback; - for standard input.",
        ),
    ],
    *,
    json: Annotated[bool, typer.Option("--json", help="Print the explanations as JSON.")] = False,
) -> None:
    """Name the pitfalls that a failed episode may have met, the likeliest first."""
    found = explanations(files, _complain)
    if json:
        print(to_json(found))
        return
    for each in found:
        if each.failed or len(found) == 1:
            console.output.print(each, soft_wrap=True)
    if len(found) > 1:
        console.output.print(f"{len(found)} games, {sum(each.failed for each in found)} failed")


@app.command()
def report(
    source: Annotated[Path, typer.Argument(metavar="DIR|REPLAY", help="A tournament, or recorded games.")],
    *,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="DIR/report.html or REPLAY.html.")
    ] = None,
    analysis: Annotated[bool, typer.Option(help="Compare every move with perfect play.")] = True,
    minutes: Annotated[float | None, typer.Option(min=0, help="How long to do that at most.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="How many processes do it; all processors.")] = None,
) -> None:
    """Write one HTML page with the results and every game, to be read offline in a browser."""
    path = out or page_path(source)
    if not path.absolute().parent.is_dir():
        raise InputError(f"there is no folder {path.absolute().parent} for the page: make it first")
    with console.progress() as bar:
        task = bar.add_task("games analysed", total=None)
        facts = gather(
            source,
            analysis=analysis,
            minutes=minutes,
            jobs=jobs or os.cpu_count() or 1,
            tell=lambda message: bar.console.print(message, soft_wrap=True, markup=False),
            on_game=lambda done, total: bar.update(task, completed=done, total=total),
        )
    size = write_page(facts, path)
    console.messages.print(
        f"{len(facts.games)} game{'s' * (len(facts.games) != 1)}, {facts.analysed} analysed: {path} "
        f"({size / 1e6:.1f} MB)",
        soft_wrap=True,
        markup=False,
    )


def _complain(message: str) -> None:
    console.messages.print(message, soft_wrap=True, markup=False)


def _this_command() -> str:
    return shlex.join(["python", "-m", "evaluation", *sys.argv[1:]])


@contextmanager
def _live_tally(games: int, quiet: bool) -> Iterator[Callable[[int, GameRecord], None]]:
    """Shows how the match stands, as told of every game's number and record."""
    points = Counter[float]()
    with console.progress(quiet) as bar:
        task = bar.add_task("", total=games)

        def on_game(number: int, record: GameRecord) -> None:
            points[record.points(number % 2)] += 1
            won, drawn, lost = points[1.0], points[0.5], points[0.0]
            bar.update(task, advance=1, description=f"won {won}, drawn {drawn}, lost {lost}")

        yield on_game


def _report(result: MatchResult | TournamentResult | AgentAccuracy | GamesAccuracy, json: bool) -> None:
    if json:
        print(result.to_json())
    elif result:
        text = Text(str(result))
        text.highlight_regex(r"\A.*", "bold")
        text.highlight_regex(
            r"(?m)^  (forfeits|no move ) .*|becomes (win|draw|loss)[- 0-9]*|the first mistake of .", "red"
        )
        console.output.print(text, soft_wrap=True)


if __name__ == "__main__":
    console.run(app)
