"""Move accuracy in games that were played: of every player, the first mistakes, the worst moves."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from engine.board import SYMBOLS, Board, format_moves
from evaluation import stats, tables
from evaluation.analysis import (
    PHASES,
    SECONDS,
    GameAnalysis,
    JudgedMove,
    Tally,
    analyses,
    memory_of,
    phase,
)
from evaluation.errors import InputError
from evaluation.judgements import (
    HEADINGS,
    Mistake,
    boards,
    facts,
    interval,
    move_facts,
    percent,
    swing,
    total,
    worst,
)
from evaluation.positions import holds_positions
from evaluation.records import Ending
from evaluation.replays import RecordedGame, read_recorded
from evaluation.result import counted
from evaluation.workers import check_numbers

SHOWN = 2
"""How many of the worst moves are shown."""

PLAYER_HEADINGS = ["games", *HEADINGS, "no mistake", "first mistake"]


class GamesInterrupted(KeyboardInterrupt):
    """Ctrl-C during the analysis of games. `result` holds those that were judged by then, perhaps none."""

    def __init__(self, result: GamesAccuracy) -> None:
        super().__init__(f"interrupted after {result.games} games")
        self.result = result


class Spread:
    """How much a share of moves varies from game to game, from sums alone."""

    def __init__(self) -> None:
        self.moves = self.hits = self.moves_moves = self.moves_hits = self.hits_hits = 0

    def add(self, moves: int, hits: int) -> None:
        """Takes in a game."""
        self.moves += moves
        self.hits += hits
        self.moves_moves += moves * moves
        self.moves_hits += moves * hits
        self.hits_hits += hits * hits

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval for as many moves as the games are worth, at most those there are.

        The variance is that of a ratio of sums over games (Cochran, "Sampling Techniques", 1977, 6.4).
        """
        if not self.moves:
            return 0.0, 1.0
        share = self.hits / self.moves
        spread = self.hits_hits - 2 * share * self.moves_hits + share * share * self.moves_moves
        independent = share * (1 - share) * self.moves
        return stats.wilson(share, self.moves * min(1.0, independent / spread if spread > 0 else 1.0))


@dataclass
class PlayerAccuracy:
    """How well somebody played.

    Attributes:
        games: that were played.
        played: the player's moves, whether judged or not.
        by_phase: the judged moves.
        complete: games of which every move was judged; the next two are of these.
        clean: in which every move kept the value.
        first_mistakes: how many discs were on the board before the first that did not, of the others.
    """

    games: int = 0
    played: int = 0
    by_phase: dict[str, Tally] = field(default_factory=lambda: dict.fromkeys(PHASES, Tally()))
    complete: int = 0
    clean: int = 0
    first_mistakes: Counter[int] = field(default_factory=Counter)
    _best: Spread = field(default_factory=Spread)
    _kept: Spread = field(default_factory=Spread)

    def add(self, game: RecordedGame, analysis: GameAnalysis, seat: int) -> None:
        """Takes in what the player did in a game, in one of its seats."""
        record = game.record
        cells = record.configuration["rows"] * record.configuration["columns"]
        played = sum(ply % 2 == seat for ply in range(len(record.opening), len(record.moves)))
        moves = analysis.of(seat)
        for move in moves:
            self.by_phase[phase(move.ply, cells)] += Tally.of([move])
        tally = Tally.of(moves)
        self._best.add(tally.moves, tally.best)
        self._kept.add(tally.moves, tally.kept)
        self.games += 1
        self.played += played
        if played == len(moves):
            self.complete += 1
            mistake = analysis.first_mistake(seat)
            if mistake:
                self.first_mistakes[mistake.ply] += 1
            else:
                self.clean += 1

    @property
    def tally(self) -> Tally:
        """All judged moves."""
        return total(self.by_phase.values())

    @property
    def best_interval(self) -> tuple[float, float]:
        """The 95 % interval of the share of best moves. Moves of one game are no independent draws."""
        return self._best.interval

    @property
    def kept_interval(self) -> tuple[float, float]:
        """The same of the share of moves that kept the value."""
        return self._kept.interval

    @property
    def mean_first_mistake(self) -> float | None:
        """The mean number of discs before the first mistake; None without any."""
        count = self.first_mistakes.total()
        return sum(ply * times for ply, times in self.first_mistakes.items()) / count if count else None

    def row(self) -> list[str]:
        """The cells below `PLAYER_HEADINGS`."""
        tally, first = self.tally, self.mean_first_mistake
        judged = bool(tally.moves)
        return [
            str(self.games),
            str(tally.moves),
            percent(tally.best_share),
            interval(self.best_interval) if judged else "-",
            percent(tally.kept_share),
            interval(self.kept_interval) if judged else "-",
            f"{tally.mean_lost:.2f}" if judged else "-",
            f"{self.clean} of {self.complete}",
            "-" if first is None else f"{first:.1f} discs",
        ]

    def facts(self) -> dict[str, Any]:
        """Everything for JSON."""
        intervals = {"best_interval": self.best_interval, "kept_interval": self.kept_interval}
        return {
            "games": self.games,
            "played": self.played,
            **facts(self.tally),
            **(intervals if self.tally.moves else {}),
            "by_phase": {name: facts(tally) for name, tally in self.by_phase.items()},
            "complete_games": self.complete,
            "clean_games": self.clean,
            "mean_first_mistake": self.mean_first_mistake,
            "first_mistakes": self.first_mistakes,
        }


class GamesAccuracy:
    """Games that were judged.

    Attributes:
        source: where they are from.
        seconds: how long a position might take.
        games: how many.
        endings: why they ended.
        players: by name, in the order in which they came.
        worst: the moves that lost most.
        kept: every game and its analysis, if they are to be kept; otherwise the first one.
    """

    def __init__(self, source: str, seconds: float, keep: bool = False) -> None:
        self.source = source
        self.seconds = seconds
        self.games = 0
        self.endings = Counter[Ending]()
        self.players: dict[str, PlayerAccuracy] = {}
        self.worst: list[Mistake] = []
        self.kept: list[tuple[RecordedGame, GameAnalysis]] = []
        self._keep = keep

    def add(self, game: RecordedGame, analysis: GameAnalysis) -> None:
        """Takes in a game."""
        if self._keep or not self.games:
            self.kept.append((game, analysis))
        self.games += 1
        self.endings[game.record.ending] += 1
        for seat, name in enumerate(game.players):
            self.players.setdefault(name, PlayerAccuracy()).add(game, analysis, seat)
        if top := max(analysis.moves, key=lambda move: move.lost, default=None):
            mistake = Mistake(f"{game.players[top.seat]}, game {game.name}", _before(game, top), top)
            self.worst = worst([*self.worst, mistake], SHOWN)

    def __bool__(self) -> bool:
        return self.games > 0

    def to_json(self) -> str:
        """Everything as one JSON object, on one line; the games are those that were kept."""
        return json.dumps(
            {
                "source": self.source,
                "seconds": self.seconds,
                "endings": self.endings,
                "players": {name: player.facts() for name, player in self.players.items()},
                "games": [_game_facts(*each) for each in self.kept],
            }
        )

    def __repr__(self) -> str:
        return f"<GamesAccuracy {self.title}>"

    def __str__(self) -> str:
        parts = [self.title, *map(tables.as_text, self._tables()), self._boards()]
        return "\n\n".join([*filter(None, parts), tables.notes_as_text(self._notes())])

    def _repr_html_(self) -> str:
        body = "".join(map(tables.as_html, self._tables()))
        title, notes = f"<p><b>{escape(self.title)}</b></p>", tables.notes_as_html(self._notes())
        return f"{title}{body}<pre>{escape(self._boards())}</pre>{notes}"

    @property
    def title(self) -> str:
        """What was judged, in a line."""
        if self.games == 1:
            [(game, _)] = self.kept
            names = [f"{name} ({SYMBOLS[seat + 1]})" for seat, name in enumerate(game.players)]
            return f"{' against '.join(names)}: {_result(game)}"
        return f"accuracy of {len(self.players)} players in {self.games} games"

    def _tables(self) -> list[list[list[str]]]:
        if self.games == 1:
            [(game, analysis)] = self.kept
            return [*([_moves(game, analysis)] if analysis.moves else []), _players(game, analysis)]
        names = sorted(self.players, key=lambda name: -(self.players[name].tally.best_share or 0.0))
        by_player = [["", *PLAYER_HEADINGS], *([name, *self.players[name].row()] for name in names)]
        by_phase = [["best %, value kept %", *PHASES]]
        for name in names:
            tallies = self.players[name].by_phase.values()
            shares = [f"{percent(tally.best_share)}, {percent(tally.kept_share)}" for tally in tallies]
            by_phase.append([name, *(each.replace("-, -", "-") for each in shares)])
        return [by_player, by_phase]

    def _boards(self) -> str:
        """The positions to look at: the first mistakes of a game, the worst moves of several."""
        if self.games > 1:
            return boards("worst moves", self.worst)
        game, analysis = self.kept[0]
        firsts = (analysis.first_mistake(seat) for seat in (0, 1))
        mistakes = [Mistake(game.players[move.seat], _before(game, move), move) for move in firsts if move]
        return boards("first mistakes", sorted(mistakes, key=lambda each: each.move.ply))

    def _notes(self) -> list[tuple[str, str]]:
        """The lines below: a label of at most 14 characters and what there is to say."""
        played = sum(player.played for player in self.players.values())
        judged = sum(player.tally.moves for player in self.players.values())
        notes = []
        if judged < played:
            notes.append(
                ("not judged", f"{played - judged} of {played} moves: not solved within {self.seconds:g} s")
            )
        notes.append(("games ended by", counted(self.endings)))
        if self.games == 1 and (opening := self.kept[0][0].record.opening):
            notes.append(("set up before", format_moves(opening)))
        return [*notes, ("read from", self.source)]


def judge_games(
    source: str | Path,
    *,
    seconds: float = SECONDS,
    jobs: int = 1,
    keep: bool = False,
    tell: Callable[[str], None] = lambda _: None,
    on_game: Callable[[GamesAccuracy], None] | None = None,
) -> GamesAccuracy:
    """The accuracy of recorded games: a tournament's folder, a replay, a file of records.

    What is solved of a tournament is kept in its folder, so that a second call costs nothing.

    Args:
        seconds: how long a position may take.
        jobs: how many processes solve.
        keep: keep every game with its analysis.
        tell: called with what cannot be read or solved, a line each.
        on_game: called after each game.

    Raises:
        InputError: where there are no games.
        GamesInterrupted: on Ctrl-C.
    """
    check_numbers(jobs=(jobs, 1))
    path = Path(source)
    if holds_positions(path):
        raise InputError(f"{source} holds positions, not games: name an agent, and --positions {source}")
    result = GamesAccuracy(str(source), seconds, keep)
    games = read_recorded(path, tell)
    try:
        with closing(
            analyses(games, seconds=seconds, memory=memory_of(path), jobs=jobs, tell=tell)
        ) as judged:
            for game, analysis in judged:
                result.add(game, analysis)
                if on_game:
                    on_game(result)
    except KeyboardInterrupt:
        raise GamesInterrupted(result) from None
    return result


def _before(game: RecordedGame, move: JudgedMove) -> Board:
    settings = game.record.configuration
    size = settings["rows"], settings["columns"], settings["inarow"]
    return Board.from_moves(game.record.moves[: move.ply], *size)


def _result(game: RecordedGame) -> str:
    """How a game ended, in a few words."""
    record = game.record
    if record.ending is Ending.ABORTED:
        return f"broken off after {len(record.moves)} discs"
    if record.culprit is not None:
        return f"{SYMBOLS[record.culprit + 1]} forfeited after {len(record.moves)} discs ({record.ending})"
    won = next((f"{SYMBOLS[seat + 1]} won" for seat in (0, 1) if record.points(seat) == 1), "a draw")
    return f"{won} after {len(record.moves)} discs"


def _players(game: RecordedGame, analysis: GameAnalysis) -> list[list[str]]:
    """A row a player of one game."""
    rows = [["", "moves", "best", "value kept", "score lost"]]
    for seat in (0, 1):
        tally = analysis.accuracy(seat)
        counts = tally.moves, tally.best, tally.kept, tally.lost
        rows.append([_label(game, seat), *map(str, counts)])
    return rows


def _label(game: RecordedGame, seat: int) -> str:
    return f"{SYMBOLS[seat + 1]} {game.players[seat]}"


def _moves(game: RecordedGame, analysis: GameAnalysis) -> list[list[str]]:
    """A row a move of one game."""
    record = game.record
    judged = {move.ply: move for move in analysis.moves}
    firsts = [analysis.first_mistake(seat) for seat in (0, 1)]
    rows = [["disc", "", "column", "score", "best", "at", "lost", ""]]
    for ply in range(len(record.opening), len(record.moves)):
        row = [f"{ply + 1:>4}", _label(game, ply % 2), str(record.moves[ply] + 1)]
        if move := judged.get(ply):
            best = [column for column, score in enumerate(move.scores) if score == move.best]
            remark = "" if move.keeps_value else swing(move)
            if move in firsts:
                remark += f", the first mistake of {SYMBOLS[ply % 2 + 1]}"
            at = " ".join(str(column + 1) for column in best)
            row += [str(move.score), str(move.best), at, str(move.lost or ""), remark]
        else:
            row += ["?", "", "", "", ""]
        rows.append(row)
    for column in (1, -1):  # texts are flush left
        width = max(len(row[column]) for row in rows)
        for row in rows:
            row[column] = row[column].ljust(width)
    return rows


def _game_facts(game: RecordedGame, analysis: GameAnalysis) -> dict[str, Any]:
    firsts = [analysis.first_mistake(seat) for seat in (0, 1)]
    return {
        "name": game.name,
        "players": game.players,
        "ending": game.record.ending,
        "opening": game.record.opening,
        "accuracy": [facts(analysis.accuracy(seat)) for seat in (0, 1)],
        "first_mistakes": [first and {**move_facts(first), "swing": swing(first)} for first in firsts],
        "moves": [{"seat": move.seat, **move_facts(move)} for move in analysis.moves],
    }
