"""The page: facts put into the template, with styles and script; everything from outside is escaped."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256
from math import isinf
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from evaluation.analysis import PHASES, Tally
from evaluation.counts import interval
from evaluation.ratings import UnratedError
from evaluation.records import Ending
from evaluation.report import verdict
from evaluation.report.facts import ENDINGS, AgentFacts, Facts
from evaluation.report.plots import EloAxis, TimeAxis, duration
from evaluation.result import board
from evaluation.standings import TournamentResult, bounds, elo, share

HERE = Path(__file__).parent
HEAT = 10
"""Into so many shades the cross-table divides scores from 0 to 1."""

Row = dict[str, Any]


def render(facts: Facts) -> str:
    """The whole page. It loads nothing, and a browser that knows its policy runs no script but ours."""
    style, script = ((HERE / name).read_text(encoding="utf-8") for name in ("style.css", "viewer.js"))
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["breakable"] = _breakable
    return environment.get_template("page.html.jinja").render(
        title=verdict.title(facts),
        sentences=verdict.sentences(facts),
        facts=facts,
        **_tournament(facts.standings),
        endings=_endings(facts.endings),
        forfeits=_forfeits(facts),
        times=_times(facts),
        accuracy=_accuracy(facts),
        phases=PHASES,
        settings=_settings(facts),
        style=Markup(style),
        script=Markup(script),
        policy=f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "base-uri 'none'; form-action 'none'",
        data=htmlsafe_json_dumps(facts.data(), separators=(",", ":")),
    )


def _digest(text: str) -> str:
    """What a Content-Security-Policy calls an inline script or style."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _breakable(name: str) -> Markup:
    """A name that may go on in a second line behind a punctuation mark."""
    return Markup("<wbr>").join(re.findall(r"[^_:/.,=-]*[_:/.,=-]*", name))


def _tournament(result: TournamentResult | None) -> Mapping[str, Any]:
    """What only a tournament has; nothing for other games or before the first game."""
    if not result:
        return {"ratings": None, "scores": None, "cross_table": None, "tests": None}
    return {
        "ratings": _ratings(result),
        "scores": [_score(result, agent) for agent in result.order],
        "cross_table": [_cross_row(result, agent) for agent in result.order],
        "tests": _tests(result),
    }


def _ratings(result: TournamentResult) -> Mapping[str, Any]:
    """The axis, a row an agent and what the first move is worth; or only why there are no ratings."""
    try:
        ratings = result.ratings
    except UnratedError as error:
        return {"refused": str(error)}
    axis = EloAxis.of(value for r in ratings.agents for value in (r.elo, r.low, r.high))
    rows = []
    for agent in result.order:
        rating, anchor = ratings.agents[agent], result.names[agent] == result.settings["anchor"]
        rows.append(
            {
                "name": result.names[agent],
                "anchor": anchor,
                "elo": "0" if anchor else elo(rating.elo),
                "interval": "anchor" if anchor else f"{elo(rating.low)} to {elo(rating.high)}",
                "beyond": isinf(rating.elo),
                "bar": axis.bar(rating.elo, rating.low, rating.high),
            }
        )
    first = ratings.first_move
    first_move = f"{elo(first.elo)} Elo ({elo(first.low)} to {elo(first.high)})"
    return {"refused": None, "rows": rows, "ticks": axis.ticks, "zero": axis.at(0), "first_move": first_move}


def _score(result: TournamentResult, agent: int) -> Row:
    total = result.total(agent)
    first, second = result.by_seat(agent)
    return {
        "name": result.names[agent],
        **total._asdict(),
        "games": sum(total),
        "score": share(total),
        "width": 100 * total.score if sum(total) else 0,
        "interval": bounds(interval(result.outcomes(agent))) if sum(total) else "-",
        "first": share(first),
        "second": share(second),
    }


def _cross_row(result: TournamentResult, agent: int) -> Row:
    """An agent's scores against all agents, in percent; `heat` is from 0 to `HEAT`."""
    cells = []
    for other in result.order:
        tally = result.total(agent, other)
        played = agent != other and sum(tally) > 0
        cells.append(
            {
                "agents": (agent, other),
                "name": result.names[other],
                "text": f"{100 * tally.score:.0f}" if played else None,
                "tally": tally,
                "heat": round(HEAT * tally.score) if played else None,
            }
        )
    return {"name": result.names[agent], "cells": cells}


def _tests(result: TournamentResult) -> list[Row]:
    """A row a sequential test."""
    rows = []
    for (one, two), meeting in result.meetings.items():
        if test := meeting.test:
            rows.append(
                {
                    "name": f"{result.names[one]} against {result.names[two]}",
                    "pairs": sum(test.counts),
                    "score": share(meeting.total),
                    "llr": f"{test.llr:+.2f}",
                    "at": min(max(50 + 50 * test.llr / test.BOUND, 0), 100),
                    "verdict": "none yet" if test.verdict is None else f"{100 * test.verdict:g} %",
                }
            )
    return rows


def _endings(counts: Counter[Ending]) -> list[Row]:
    """The endings that occurred, in a fixed order; `start` and `width` in percent."""
    rows, start = [], 0.0
    for ending in Ending:
        if count := counts[ending]:
            width = 100 * count / counts.total()
            kind = "forfeit" if ending.is_forfeit else ending.value
            row = {"name": ENDINGS[ending], "ending": ending.value, "kind": kind, "count": count}
            rows.append({**row, "start": round(start, 2), "width": round(width, 2)})
            start += width
    return rows


def _forfeits(facts: Facts) -> Mapping[str, Any]:
    """The causes that occurred, and a row of counts for each agent that forfeited."""
    causes = [ending for ending in Ending if ending.is_forfeit and facts.endings[ending]]
    rows = [
        {
            "agent": index,
            "name": name,
            "counts": [agent.forfeits[cause] for cause in causes],
            "error": agent.first_error,
        }
        for index, (name, agent) in enumerate(zip(facts.names, facts.agents, strict=True))
        if agent.forfeits
    ]
    return {"causes": [{"name": ENDINGS[cause], "ending": cause.value} for cause in causes], "rows": rows}


def _times(facts: Facts) -> Mapping[str, Any] | None:
    """A row for each agent whose time was taken."""
    found = [(name, agent) for name, agent in _ordered(facts) if agent.seconds]
    if not found:
        return None
    limits = sorted(facts.limits)
    axis = TimeAxis.of([*limits, *(value for _, agent in found for value in agent.times)])
    rows = []
    for name, agent in found:
        median, mean, slow, longest = agent.times
        texts = {"median": median, "mean": mean, "slow": slow, "longest": longest}
        rows.append(
            {
                "name": name,
                "moves": len(agent.seconds),
                **{key: duration(value) for key, value in texts.items()},
                "at": {key: axis.at(value) for key, value in texts.items()},
            }
        )
    return {
        "rows": rows,
        "ticks": axis.ticks,
        "limits": [{"at": axis.at(limit), "text": duration(limit)} for limit in limits],
    }


def _accuracy(facts: Facts) -> list[Row]:
    """A row for each agent whose moves were judged: a cell a phase, the last for all."""
    return [
        {"name": name, "cells": [_cell(agent.accuracy[phase]) for phase in PHASES] + [_cell(agent.total)]}
        for name, agent in _ordered(facts)
        if agent.total.moves
    ]


def _cell(tally: Tally) -> Row | None:
    if not tally.moves:
        return None
    return {
        "moves": tally.moves,
        "best": _percent(tally.best_share),
        "kept": _percent(tally.kept_share),
        "best_width": round(100 * tally.best_share, 2),
        "kept_width": round(100 * tally.kept_share, 2),
        "lost": f"{tally.mean_lost:.2f}",
    }


def _percent(share: float) -> str:
    """A share in percent; only what is whole is called 100 or 0."""
    text = f"{100 * share:.1f}"
    return text.removesuffix(".0") if share in (0, 1) else text


def _ordered(facts: Facts) -> Iterable[tuple[str, AgentFacts]]:
    """The agents as they are in the ratings, or as they were met."""
    order = facts.standings.order if facts.standings is not None else range(len(facts.names))
    return [(facts.names[agent], facts.agents[agent]) for agent in order]


def _settings(facts: Facts) -> list[tuple[str, str]]:
    """What the games were played with: a label and a value each."""
    if facts.standings is None:
        boards = ", ".join(f"{rows}x{columns}, inarow {inarow}" for rows, columns, inarow in facts.boards)
        limits = ", ".join(duration(limit) for limit in sorted(facts.limits))
        return [("board", boards), ("seconds a move", limits)]
    result = facts.standings
    settings, openings = result.settings, result.openings.facts()
    kind, plies = settings["openings"], settings["opening_plies"]
    sprt, replayed = settings["sprt"], result.games - result.distinct_games
    repeated = f"; {openings['repeated']} pairs repeat one" * bool(openings["repeated"])
    rows = [
        ("games", f"{result.games} of {result.planned} planned, {settings['games']} every two agents"),
        ("distinct games", f"{result.distinct_games}" + f" ({replayed} replay another)" * bool(replayed)),
        ("openings", f"{kind}, {plies} discs{repeated}" if plies else kind),
        ("referee", settings["referee"]),
        ("seed", str(settings["seed"])),
        ("board", board(settings["configuration"])),
        ("seconds a move", f"{settings['configuration']['actTimeout']:g}"),
        ("rated 0", settings["anchor"]),
    ]
    if sprt:
        rows.append(("test", f"a score of {100 * sprt[0]:g} % against {100 * sprt[1]:g} %"))
    if result.aborted:
        rows.append(("no result", f"{result.aborted} games, which count for nobody"))
    return rows
