"""Games read, judged and counted for a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from time import monotonic

from evaluation.analysis import GameAnalysis, analyses, memory_of
from evaluation.archive import GAMES_FILE, GameId
from evaluation.errors import InputError
from evaluation.replays import RecordedGame, read_recorded
from evaluation.report.facts import Facts
from evaluation.standings import TournamentResult
from evaluation.tournament import read_tournament

Tell = Callable[[str], None]


def gather(
    source: Path,
    *,
    analysis: bool = True,
    minutes: float | None = None,
    jobs: int = 1,
    tell: Tell = lambda _: None,
    on_game: Callable[[int, int], None] = lambda _done, _total: None,
) -> Facts:
    """The facts of the games in `source`, whatever `evaluation.replays.read_recorded` reads.

    Args:
        analysis: whether the games are compared with perfect play.
        minutes: how long at most; the games left then are shown without exact values.
        jobs: how many processes do it.
        tell: called with what is to be said in between, a line each.
        on_game: called with how many games are judged, and how many there are.

    Raises:
        InputError: where there is nothing to show.
        KeyboardInterrupt: on Ctrl-C, after telling what is kept.
    """
    standings = _standings(source)
    games = _games(source, standings, tell)
    facts = Facts(standings.names if standings is not None else (), standings)
    memory = memory_of(source)

    def note(text: str) -> None:
        facts.notes.append(text)
        tell(text)

    if analysis and games:
        judged = analyses(games, memory=memory, jobs=min(jobs, len(games)), tell=note)
        try:
            with closing(judged):
                for game, judgement in _until(judged, minutes):
                    _add(facts, game, judgement)
                    on_game(len(facts.games), len(games))
        except KeyboardInterrupt:
            kept = f"what was solved is kept in {memory}" if memory else "nothing is kept"
            tell(f"{len(facts.games)} of {len(games)} games were analysed; {kept}. {_shorter(memory)}")
            raise
        if left := len(games) - len(facts.games):
            note(f"{left} of {len(games)} games are shown without exact values: {minutes:g} minutes are over")
    for game in games[len(facts.games) :]:
        _add(facts, game, None)
    return facts


def _shorter(memory: Path | None) -> str:
    again = "The same command goes on; " if memory else ""
    return f"{again}--minutes N analyses for so long, --no-analysis not at all"


def _standings(source: Path) -> TournamentResult | None:
    """Those of a tournament, None for other games."""
    folder = source.parent if source.name == GAMES_FILE else source
    if not (folder / GAMES_FILE).exists():
        return None
    try:
        return read_tournament(folder)
    except (KeyError, TypeError, IndexError) as error:
        raise InputError(f"{folder} does not hold games of one tournament ({error!r})") from None


def _games(source: Path, standings: TournamentResult | None, tell: Tell) -> list[RecordedGame]:
    """All games; those of a tournament by their ids, for they end in any order."""
    if standings is None:
        return list(read_recorded(source, tell))
    if not standings.games:
        return []
    return sorted(read_recorded(source, tell), key=lambda game: GameId.parse(game.name))


def _until(
    judged: Iterator[tuple[RecordedGame, GameAnalysis]], minutes: float | None
) -> Iterator[tuple[RecordedGame, GameAnalysis]]:
    """The games that are judged before the time is over."""
    end = None if minutes is None else monotonic() + 60 * minutes
    while end is None or monotonic() < end:
        if (found := next(judged, None)) is None:
            return
        yield found


def _add(facts: Facts, game: RecordedGame, analysis: GameAnalysis | None) -> None:
    facts.add(game, analysis, GameId.parse(game.name).seats if facts.standings is not None else None)
