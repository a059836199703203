"""What the games say, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.analysis import GameAnalysis, JudgedMove, sign
from evaluation.counts import interval
from evaluation.ratings import UnratedError
from evaluation.records import Ending
from evaluation.replays import RecordedGame
from evaluation.report.facts import ENDINGS, Facts
from evaluation.standings import TournamentResult, bounds, elo, share

MAX_NAMED = 4
"""So many players are named one by one."""
VALUES = {1: "win", 0: "draw", -1: "loss"}


def title(facts: Facts) -> str:
    """What is shown, in a few words."""
    if facts.standings is not None:
        agents = f"{len(facts.names)} agents" if len(facts.names) > 2 else " against ".join(facts.names)
        kind = "Gauntlet" if facts.standings.settings["gauntlet"] else "Round robin"
        return f"{kind} of {agents}" if len(facts.names) > 2 else agents
    if len(facts.games) == 1 and facts.last:
        return " against ".join(facts.last[0].players)
    return f"{len(facts.games)} games of {len(facts.names)} players"


def sentences(facts: Facts) -> list[str]:
    """The verdict."""
    if facts.standings is not None:
        return [*_tournament(facts.standings), *_forfeits(facts)]
    if len(facts.games) == 1 and facts.last:
        return list(_game(*facts.last))
    return [*_results(facts), *_forfeits(facts)]


def _results(facts: Facts) -> Iterator[str]:
    """How often each player won, where there are few."""
    if len(facts.names) <= MAX_NAMED:
        for name, agent in zip(facts.names, facts.agents, strict=True):
            wins, draws, losses = (agent.points[points] for points in (1.0, 0.5, 0.0))
            yield f"{name}: {wins} won, {draws} drawn, {losses} lost."


def _tournament(result: TournamentResult) -> Iterator[str]:
    if not result.games:
        yield f"No game has been played yet: {result.planned} are planned."
        return
    if len(result.names) == 2:
        yield from _duel(result)
    else:
        yield _leader(result)
    decided = all(meeting.decided for meeting in result.meetings.values())
    if result.games < result.planned and not decided:
        yield f"{result.games} of at most {result.planned} games have been played so far."


def _duel(result: TournamentResult) -> Iterator[str]:
    one, two = result.names
    low, high = interval(result.outcomes(0))
    if not sum(result.total(0)):
        yield "No game came to a result."
        return
    score = f"{one} scored {share(result.total(0))} % against {two} (95 % interval {bounds((low, high))})"
    if low > 0.5:
        yield f"{one} is stronger: {score}."
    elif high < 0.5:
        yield f"{two} is stronger: {score}."
    else:
        yield f"No difference is shown: {score}, and 50 % is among what is possible."
    test = result.meetings[0, 1].test
    if test and test.verdict is not None:
        yield f"The sequential test accepts a score of {100 * test.verdict:g} %."
    elif test:
        yield "The sequential test has come to no verdict."


def _leader(result: TournamentResult) -> str:
    first, second = (result.names[agent] for agent in result.order[:2])
    try:
        leader, follower = (result.ratings.agents[agent] for agent in result.order[:2])
    except UnratedError:
        return f"{first} has the highest score; no results connect all agents, so there are no ratings."
    tally, outcomes = result.total(*result.order[:2]), result.outcomes(*result.order[:2])
    if not sum(tally):
        apart = leader.low > follower.high
        rated = f"{first} leads with {elo(leader.elo)} Elo ({elo(leader.low)} to {elo(leader.high)})"
        return (
            f"{rated}; the interval of {second}, the next, {'lies below' if apart else 'overlaps with that'}."
        )
    low, high = interval(outcomes)
    score = f"{share(tally)} % (95 % interval {bounds((low, high))})"
    if low > 0.5:
        return f"{first} is the strongest: against {second}, the next in rating, it scored {score}."
    return (
        f"{first} leads, but is not shown to be stronger than {second}, the next in rating: "
        f"against it, it scored {score}."
    )


def _forfeits(facts: Facts) -> Iterator[str]:
    found = [
        f"{name} {sum(agent.forfeits.values())} of {agent.games}"
        for name, agent in zip(facts.names, facts.agents, strict=True)
        if agent.forfeits
    ]
    if found:
        yield f"Games lost by forfeit: {', '.join(found)}."


def _game(game: RecordedGame, analysis: GameAnalysis | None) -> Iterator[str]:
    record, players = game.record, _told_apart(game.players)
    discs = len(record.moves)
    if record.culprit is not None:
        culprit, winner = players[record.culprit], players[1 - record.culprit]
        yield f"{culprit} forfeited after {discs} discs ({ENDINGS[record.ending]}), so {winner} won."
    elif record.ending is Ending.ABORTED:
        yield f"The game came to no result; it was broken off after {discs} discs."
    elif record.ending is Ending.LINE:
        winner = players[0 if record.points(0) == 1 else 1]
        yield f"{winner} won with a line of {record.configuration['inarow']} after {discs} discs."
    else:
        yield f"A draw after {discs} discs ({ENDINGS[record.ending]})."
    if analysis and analysis.moves:
        mistake = analysis.first_mistake()
        yield _mistake(mistake, players) if mistake else "No move gave away a win or a draw."


def _told_apart(players: tuple[str, str]) -> tuple[str, str]:
    """The names, with the seats where they are the same."""
    first, second = players
    return players if first != second else (f"{first} (✕, moving first)", f"{second} (○, moving second)")


def _mistake(move: JudgedMove, players: tuple[str, str]) -> str:
    best, played = VALUES[sign(move.best)], VALUES[sign(move.score)]
    return (
        f"The first mistake was {players[move.seat]}'s, "
        f"disc {move.ply + 1} in column {move.column + 1}: it turned a {best} into a {played}."
    )
