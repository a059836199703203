"""Small tournaments written by hand, their pages, and a browser to look at them, where there is one."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evaluation.archive import Archive, Game, GameId
from evaluation.loading import Agent
from evaluation.records import GameRecord
from evaluation.referee import configuration, play_game
from evaluation.report import gather, write_page

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def chooser(seed: int) -> Agent:
    """An agent that plays at random, the same from test to test."""
    generator = random.Random(seed)

    def agent(obs: Any, config: Any) -> int:
        return generator.choice([c for c in range(config.columns) if obs.board[c] == 0])

    return agent


def failing(message: str) -> Agent:
    """An agent that raises an exception at its second move."""

    def agent(obs: Any, config: Any) -> int:
        if obs.step > 3:
            raise RuntimeError(message)
        return next(c for c in range(config.columns) if obs.board[c] == 0)

    return agent


def settings(names: Sequence[str], games: int, board: dict[str, Any], **changes: Any) -> dict[str, Any]:
    plain = {
        "agents": list(names),
        "versions": [None] * len(names),
        "games": games,
        "gauntlet": False,
        "sprt": None,
        "seed": 7,
        "referee": "fast",
        "configuration": board,
        "trusted": False,
        "opening_plies": 2,
        "openings": "balanced",
        "anchor": names[0],
    }
    return plain | changes


def write_tournament(
    folder: Path, agents: dict[str, Agent], games: int = 4, *, size: tuple[int, int] = (4, 5), **changes: Any
) -> Path:
    """A folder with a tournament of these agents, by name."""
    names, board = list(agents), configuration(rows=size[0], columns=size[1])
    generator = random.Random(1)
    archive = Archive(folder, settings(names, games, board, **changes))
    for one, two in combinations(range(len(names)), 2):
        for number in range(games):
            id = GameId(one, two, number)
            first, second = (names[agent] for agent in id.seats)
            if number % 2 == 0:
                opening = [generator.randrange(size[1]) for _ in range(2)]
            record = play_game([agents[first], agents[second]], board, opening)
            archive.add(Game(id, (first, second), 1, record, 0))
    archive.close()
    return folder


def write_records(path: Path, *records: GameRecord) -> Path:
    path.write_text("".join(f"{record.to_json()}\n" for record in records))
    return path


@pytest.fixture(scope="session")
def tournament(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three agents on 4x5 boards, one of which fails in every long game."""
    agents = {"alpha": chooser(1), "beta": chooser(2), "gamma_the_third": failing("it is gone")}
    return write_tournament(tmp_path_factory.mktemp("tournament"), agents, 20)


@pytest.fixture(scope="session")
def page_file(tournament: Path) -> Path:
    """The page of `tournament`."""
    path = tournament / "report.html"
    write_page(gather(tournament), path)
    return path


@pytest.fixture(scope="session")
def make() -> SimpleNamespace:
    """What tests make their own games and pages with."""
    return SimpleNamespace(
        chooser=chooser,
        failing=failing,
        settings=settings,
        tournament=write_tournament,
        records=write_records,
        data=embedded,
    )


def embedded(page: str) -> Any:
    """The data in a page."""
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert len(found) == 1
    return json.loads(found[0])


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, driven by playwright."""
    program = shutil.which("chromium")
    if not program:
        pytest.skip("there is no chromium to show the page in")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def show(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a page without a network; at the end nothing was requested and nothing went wrong in it."""
    contexts, problems, opened, requests = [], [], set(), set()

    def open_page(
        file: Path,
        address: str = "",
        width: int = 1200,
        height: int = 900,
        scheme: str = "light",
        **more: Any,
    ) -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, offline=True, **more
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: requests.add(request.url))
        opened.add(file.as_uri())
        page.goto(file.as_uri() + address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []
    assert requests == opened
