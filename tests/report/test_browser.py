"""The page in a real browser, without a network: games stepped through, lists filtered, nothing overflows."""

import re
from dataclasses import replace
from typing import NamedTuple

import pytest

from engine.board import Board
from evaluation.analysis import Analyst, GameAnalysis, analyse
from evaluation.archive import Game, read_games
from evaluation.records import Ending
from evaluation.referee import configuration, play_game
from evaluation.replays import RecordedGame
from evaluation.report import gather, write_page
from evaluation.report.facts import Facts

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives the browser, is missing"
)
expect = sync_api.expect


MINUS = "\N{MINUS SIGN}"


class Judged(NamedTuple):
    game: Game
    analysis: GameAnalysis


@pytest.fixture(scope="module")
def games(tournament):
    """The games by id, with their analysis."""
    analyst = Analyst(4, 5, 4)
    return {str(game.id): Judged(game, analyse(game.record, analyst)) for game in read_games(tournament)}


def longest(games, wanted=bool):
    """The id of the longest game of those wanted."""
    found = [id for id, each in games.items() if wanted(each)]
    return max(found, key=lambda id: len(games[id][0].record.moves))


def shown_cells(page):
    """The discs on the board by the centre of their cell, in units of a cell, and whose they are."""
    faces = page.locator("#board .face")
    return {
        (int(float(cy)) // 50, int(float(cx)) // 50): 1 if "x" in kind.split() else 2
        for cx, cy, kind in faces.evaluate_all(
            "faces => faces.map(f => ['cx', 'cy', 'class'].map(name => f.getAttribute(name)))"
        )
    }


def check_position(page, game, analysis, ply):
    """What is shown is the position at `ply`, with its exact scores."""
    config = game.record.configuration
    board = Board.from_moves(game.record.moves[:ply], config["rows"], config["columns"], config["inarow"])
    flat = board.to_flat()
    cells = {divmod(index, config["columns"]): mark for index, mark in enumerate(flat) if mark}
    assert shown_cells(page) == cells
    texts = [text.replace(MINUS, "-") for text in page.locator("#columns b").all_inner_texts()]
    scores = analysis.scores[ply] or ()
    assert texts == ["" if score is None else f"{score:+d}" if score else "0" for score in scores]
    top = max((score for score in scores if score is not None), default=None)
    best = [str(column + 1) for column, score in enumerate(scores) if score is not None and score == top]
    assert page.locator("#columns .top .index").all_inner_texts() == best
    played = [str(column + 1) for column in game.record.moves[ply : ply + 1]]
    assert page.locator("#columns .played .index").all_inner_texts() == played
    expect(page.locator("#slider")).to_have_value(str(ply))
    expect(page.locator("#moves [aria-current]")).to_have_attribute("data-ply", str(ply))


def test_stepping_through_a_game(show, page_file, games):
    id = longest(games)
    game, analysis = games[id]
    end = len(game.record.moves)
    page = show(page_file, f"#game={id}&ply=0")
    expect(page.locator("#viewer-title")).to_have_text(f"Game {id}")
    expect(page.locator("#back")).to_be_disabled()
    for ply in range(end):
        check_position(page, game, analysis, ply)
        page.locator("#forward").click() if ply % 2 else page.keyboard.press("ArrowRight")
    check_position(page, game, analysis, end)
    expect(page.locator("#forward")).to_be_disabled()
    page.keyboard.press("Home")
    check_position(page, game, analysis, 0)
    page.keyboard.press("End")
    check_position(page, game, analysis, end)
    page.keyboard.press("ArrowLeft")
    check_position(page, game, analysis, end - 1)
    page.locator("#to-start").click()
    check_position(page, game, analysis, 0)
    page.locator("#to-end").click()
    check_position(page, game, analysis, end)
    page.locator("#moves [data-ply='5']").click()
    check_position(page, game, analysis, 5)
    box = page.locator("#curve").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 7.5 / max(end + 1, 12), box["y"] + 20)
    check_position(page, game, analysis, 7)
    page.locator("#slider").focus()
    page.keyboard.press("ArrowRight")
    check_position(page, game, analysis, 8)


def test_the_position_is_told_in_words(show, page_file, games):
    """The number of moves is counted by playing on perfectly."""
    id = longest(games, lambda each: each.game.record.ending is Ending.LINE)
    game = games[id].game
    winning = len(game.record.moves) - 1
    page = show(page_file, f"#game={id}&ply={winning}")
    position = page.locator("#position")
    expect(position).to_have_attribute("aria-live", "polite")
    expect(position).to_contain_text("wins in 1 move with column")
    expect(position).to_contain_text(f"Played: column {game.record.moves[-1] + 1} in")
    page.keyboard.press("End")
    expect(position).to_contain_text("won (line)")
    page.goto(page_file.as_uri() + f"#game={id}&ply=1")
    expect(position).to_contain_text("belongs to the opening")


def distance(board, analyst):
    """How many more moves of the winner a perfect game takes, and whether the side to move is the winner."""
    start = board.turn
    while not board.is_over:
        scores = analyst.scores(board)
        top = max(score for score in scores if score is not None)
        if top == 0:
            return None
        board = board.play(scores.index(top))
    return board.winner == start, board


def test_moves_to_the_end_are_counted_right(show, page_file, games):
    id = longest(games)
    game, analysis = games[id]
    analyst = Analyst(4, 5, 4)
    page = show(page_file, f"#game={id}&ply=0")
    counted = 0
    for ply in range(len(game.record.moves)):
        board = Board.from_moves(game.record.moves[:ply], 4, 5, 4)
        for column, score in enumerate(analysis.scores[ply]):
            chip = page.locator("#columns .column").nth(column)
            label = chip.get_attribute("aria-label")
            if score in (None, 0):
                assert ("full" if score is None else "draw") in label
                continue
            after = board.play(column)
            won, final = distance(after, analyst) if not after.is_over else (False, after)
            won = final.winner == board.turn
            own = sum(1 for at in range(ply, final.ply) if at % 2 == (ply if won else ply + 1) % 2)
            assert f"{'wins' if won else 'loses'} in {own} move" in label
            counted += 1
        page.keyboard.press("ArrowRight")
    assert counted > 10


def test_the_first_mistake_is_marked_and_gone_to(show, page_file, games):
    id = longest(games, lambda each: all(each.analysis.first_mistake(seat) for seat in (0, 1)))
    game, analysis = games[id]
    page = show(page_file, f"#game={id}")
    plies = sorted(analysis.first_mistake(seat).ply for seat in (0, 1))
    marked = page.locator("#moves .first").evaluate_all(
        "moves => moves.map(move => Number(move.dataset.ply))"
    )
    assert marked == plies
    assert page.locator("#curve .mistake").count() == 2
    page.locator("#mistake").click()
    check_position(page, game, analysis, plies[0])
    expect(page.locator("#position .lost")).to_contain_text("first mistake")
    mistakes = [move.ply for move in analysis.moves if not move.keeps_value]
    lost = page.locator("#moves .lost").evaluate_all("moves => moves.map(move => Number(move.dataset.ply))")
    assert lost == mistakes


def test_a_game_without_mistakes_has_no_button_for_them(show, page_file, games):
    clean = [id for id, (_, analysis) in games.items() if not analysis.first_mistake()]
    assert clean
    page = show(page_file, f"#game={clean[0]}")
    expect(page.locator("#mistake")).to_be_disabled()


def test_links_lead_to_positions_and_back(show, page_file):
    page = show(page_file, "#game=1-2-3&ply=4")
    title, slider = page.locator("#viewer-title"), page.locator("#slider")
    expect(title).to_have_text("Game 1-2-3")
    expect(slider).to_have_value("4")
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile("#game=1-2-3&ply=3$"))
    page.locator("#rows a").first.click()
    expect(title).to_have_text("Game 0-1-0")
    page.locator("#next-game").click()
    expect(title).to_have_text("Game 0-1-1")
    page.go_back()
    expect(title).to_have_text("Game 0-1-0")
    page.go_back()
    expect(title).to_have_text("Game 1-2-3")
    expect(slider).to_have_value("3")
    page.reload()
    expect(slider).to_have_value("3")
    page.goto(page_file.as_uri() + "#game=9-9-9")
    expect(page.locator("#position")).to_have_text("There is no game 9-9-9 in this report.")
    page.goto(page_file.as_uri() + "#game=1-2-3&ply=999")
    expect(page.locator("#to-end")).to_be_disabled()


def test_a_link_is_copied(show, page_file):
    page = show(page_file, "#game=1-2-3&ply=4", permissions=["clipboard-read", "clipboard-write"])
    page.locator("#copy").click()
    expect(page.locator("#copied")).to_have_text("Link copied")
    assert page.evaluate("navigator.clipboard.readText()") == page_file.as_uri() + "#game=1-2-3&ply=4"


def listed(page):
    """The ids in the list, all pages."""
    ids = page.locator("#rows .id").all_inner_texts()
    while page.locator("#page-forward").is_enabled():
        page.locator("#page-forward").click()
        ids += page.locator("#rows .id").all_inner_texts()
    return ids


FILTERS = {
    "all": ({}, bool),
    "agent": ({"agent": "beta"}, lambda each: "beta" in each.game.agents),
    "won": (
        {"agent": "beta", "result": "won"},
        lambda each: (
            "beta" in each.game.agents and each.game.record.points(each.game.agents.index("beta")) == 1
        ),
    ),
    "pair": (
        {"agent": "beta", "other": "gamma_the_third"},
        lambda each: {*each.game.agents} == {"beta", "gamma_the_third"},
    ),
    "ending": ({"ending": "exception"}, lambda each: each.game.record.ending is Ending.ERROR),
    "mistake": ({"mistakes": "a mistake"}, lambda each: bool(each.analysis.first_mistake())),
    "clean": ({"mistakes": "none"}, lambda each: not each.analysis.first_mistake()),
    "by the agent": (
        {"agent": "beta", "mistakes": "by the agent"},
        lambda each: (
            "beta" in each.game.agents and each.analysis.first_mistake(each.game.agents.index("beta"))
        ),
    ),
    "first mover won": ({"result": "✕ won"}, lambda each: each.game.record.points(0) == 1),
}


@pytest.mark.parametrize("chosen", FILTERS)
def test_filters(chosen, show, page_file, games):
    page = show(page_file)
    values, wanted = FILTERS[chosen]
    for id, label in values.items():
        page.locator(f"#{id}").select_option(label=label)
    expected = {id for id, each in games.items() if wanted(each)}
    expect(page.locator("#found")).to_have_text(f"{len(expected)} of 60 games")
    ids = listed(page)
    assert len(ids) == len(expected)
    assert set(ids) == expected
    page.locator("#filters [type=reset]").click()
    expect(page.locator("#found")).to_have_text("60 of 60 games")


def test_sorting_and_the_tables_that_lead_to_games(show, page_file, games):
    page = show(page_file)
    heading = page.locator("#headings .discs button")
    heading.click()
    discs = [int(text) for text in page.locator("#rows .discs").all_inner_texts()]
    assert discs == sorted(len(game.record.moves) for game, _ in games.values())[:50]
    heading.click()
    expect(page.locator("#headings .discs")).to_have_attribute("aria-sort", "descending")
    discs = [int(text) for text in page.locator("#rows .discs").all_inner_texts()]
    assert discs == sorted((len(game.record.moves) for game, _ in games.values()), reverse=True)[:50]
    page.locator("#cross-table [data-agents='0,1']").click()
    expect(page.locator("#found")).to_have_text("20 of 60 games")
    expect(page.locator("#agent")).to_have_value("0")
    page.locator("#endings [data-forfeit]").first.click()
    failed = sum(game.record.ending is Ending.ERROR for game, _ in games.values())
    expect(page.locator("#found")).to_have_text(f"{failed} of 60 games")


def test_a_forfeit_shows_why(show, page_file, games):
    id = longest(games, lambda each: each.game.record.ending is Ending.ERROR)
    page = show(page_file, f"#game={id}&ply=999")
    expect(page.locator("#position")).to_contain_text("gamma_the_third forfeited (exception)")
    expect(page.locator("#stderr")).to_be_visible()
    expect(page.locator("#stderr")).to_contain_text("RuntimeError: it is gone")
    error = page.locator("#endings [data-game]")
    expect(page.locator("#endings code")).to_have_text("RuntimeError: it is gone")
    error.click()
    expect(page.locator("#viewer-title")).to_have_text(f"Game {error.inner_text()}")
    expect(page.locator("#forward")).to_be_disabled()


CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return rgba("Canvas");
  };
  const low = [];
  for (const node of document.querySelectorAll("body *:not(script, style, svg *, option, :disabled)")) {
    const texts = [...node.childNodes].filter((child) => child.nodeType === 3);
    const text = texts.map((child) => child.data.trim()).join("");
    if (!text || !node.checkVisibility()) continue;
    const [a, b] = [light(rgba(getComputedStyle(node).color)), light(behind(node))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) low.push(`${ratio.toFixed(2)} ${node.tagName} ${node.className} ${text.slice(0, 30)}`);
  }
  return low;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_contrast_in_light_and_dark(scheme, show, page_file, games):
    id = longest(games, lambda each: each.analysis.first_mistake())
    page = show(page_file, f"#game={id}&ply={games[id][1].first_mistake().ply}", scheme=scheme)
    assert page.evaluate(CONTRAST) == []
    page.keyboard.press("End")
    assert page.evaluate(CONTRAST) == []
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background)[:3])) > 600) == (scheme == "light")


@pytest.mark.parametrize("width", [320, 360, 768])
def test_no_width_makes_the_page_scroll_sideways(width, show, page_file):
    page = show(page_file, "#game=1-2-3&ply=4", width=width, height=740)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    wide = page.evaluate(
        """width => [...document.querySelectorAll("main *:not(svg *)")]
          .filter((node) => !node.closest(".scroll") && node.getBoundingClientRect().right > width + 1)
          .map((node) => node.outerHTML.slice(0, 80))""",
        width,
    )
    assert wide == []


def test_by_keyboard_alone(show, page_file):
    page = show(page_file)
    focused = "document.activeElement.id || document.activeElement.textContent.trim()"
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "Skip to the games"
    page.keyboard.press("Enter")
    seen = []
    while "to-end" not in seen:
        page.keyboard.press("Tab")
        seen.append(page.evaluate(focused))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", seen[-1]
        assert len(seen) < 30, seen
    for wanted in ("slider", "copy", "agent"):
        while seen[-1] != wanted:
            page.keyboard.press("Tab")
            seen.append(page.evaluate(focused))
            assert len(seen) < 60, seen
    page.keyboard.press("b")  # chooses "beta"
    expect(page.locator("#found")).to_have_text("40 of 60 games")
    while not re.fullmatch(r"\d-\d-\d+", seen[-1]):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(focused))
        assert len(seen) < 90, seen
    page.keyboard.press("Enter")
    expect(page.locator("#viewer-title")).to_have_text(f"Game {seen[-1]}")
    at = int(page.locator("#slider").input_value())
    page.keyboard.press("ArrowRight")
    expect(page.locator("#slider")).to_have_value(str(at + 1))
    page.keyboard.press("Home")
    expect(page.locator("#slider")).to_have_value("0")


def test_keys_in_the_filters_do_not_move_the_game(show, page_file):
    page = show(page_file, "#game=1-2-3&ply=4")
    page.locator("#ending").focus()
    page.keyboard.press("ArrowRight")
    page.locator("#copy").focus()
    page.keyboard.press("Control+ArrowRight")
    expect(page.locator("#slider")).to_have_value("4")


INJECTIONS = [
    "</script><script>document.title = 'pwned'</script>",
    "<!--<script>",
    "<img src=x onerror=\"document.title='pwned'\">",
    "<svg/onload=alert(1)>",
    "javascript:alert(1)//'\"`${1}\u2028&amp;",
]


@pytest.mark.parametrize("text", INJECTIONS)
def test_markup_from_outside_is_shown_as_it_is(text, show, make, tmp_path):
    record = play_game([make.chooser(1), make.failing(text)], configuration(rows=4, columns=5))
    record = replace(record, stderr=record.stderr + text)
    facts = Facts()
    for name in (text, "plain"):
        facts.add(RecordedGame(name, (text, "second"), record), None)
    write_page(facts, path := tmp_path / "page.html")
    page = show(path)
    assert page.title() != "pwned"
    shown = page.evaluate("document.body.innerText")
    assert text.replace("\u2028", "") in shown.replace("\u2028", "")
    assert page.locator("#viewer-title").text_content() == f"Game {text}"
    assert page.locator("#players b").first.text_content() == text
    assert page.locator("#stderr").text_content().endswith(text)
    assert page.locator("#agent option").nth(1).text_content() == text
    assert page.locator("img, body > svg, #stderr *").count() == 0
    assert page.locator("script").count() == 2
    page.locator("#rows a").nth(1).click()
    expect(page.locator("#viewer-title")).to_have_text("Game plain")
    page.locator("#rows a").first.click()
    expect(page.locator("#viewer-title")).not_to_have_text("Game plain")
    assert page.locator("#viewer-title").text_content() == f"Game {text}"


def test_a_markup_name_in_the_folder_of_a_tournament(show, make, tmp_path):
    agents = {INJECTIONS[2]: make.chooser(1), "a&b": make.chooser(2), INJECTIONS[0]: make.chooser(3)}
    write_page(gather(make.tournament(tmp_path, agents)), path := tmp_path / "page.html")
    page = show(path)
    for table in ("#ratings", "#cross-table", "#accuracy", "#times"):
        for name in agents:
            assert name in page.locator(table).text_content()
    assert page.locator("img").count() == 0


def test_the_policy_stops_what_would_get_through(browser, page_file, tmp_path):
    """Were something not escaped, the browser would not run or load it."""
    spoilt = page_file.read_text().replace("<main>", "<main><script>document.title = 'pwned'</script>")
    spoilt = spoilt.replace("<main>", "<main><img src='https://example.org/x.png'><b style='color: red'>")
    (path := tmp_path / "spoilt.html").write_text(spoilt)
    context = browser.new_context(offline=True)
    page = context.new_page()
    refused = []
    page.on("console", lambda message: refused.append(message.text))
    page.goto(path.as_uri())
    assert page.title() == "Round robin of 3 agents"
    assert len(refused) >= 3
    assert all("Content Security Policy" in text for text in refused)
    context.close()


@pytest.mark.parametrize("size", [(12, 16), (8, 9), (1, 40)])
def test_boards_that_are_not_solved_are_shown(size, show, make, tmp_path):
    record = play_game([make.chooser(1), make.chooser(2)], configuration(rows=size[0], columns=size[1]))
    source = make.records(tmp_path / "game.json", record)
    write_page(gather(source, analysis=False), path := tmp_path / "page.html")
    page = show(path, width=360)
    expect(page.locator("#position")).to_contain_text("not solved")
    assert set(page.locator("#columns b").all_inner_texts()) == {"?"}
    page.locator("#to-end").click()
    flat = record.board.to_flat()
    assert shown_cells(page) == {divmod(i, size[1]): mark for i, mark in enumerate(flat) if mark}
    assert page.locator("#board .rim").count() >= 4
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    expect(page.locator("#games")).to_have_count(0)


def test_an_empty_tournament_opens(show, make, tmp_path):
    make.tournament(tmp_path, {"a": make.chooser(1), "b": make.chooser(2)}, 0)
    write_page(gather(tmp_path), path := tmp_path / "page.html")
    page = show(path)
    expect(page.locator("h1")).to_have_text("a against b")


def test_thousands_of_games_are_listed_a_page_at_a_time(show, make, tmp_path):
    record = play_game([make.chooser(1), make.chooser(2)])
    facts = Facts()
    for number in range(3000):
        facts.add(RecordedGame(f"0-1-{number}", ("a", "b"), record), None)
    write_page(facts, path := tmp_path / "page.html")
    page = show(path, "#game=0-1-2999")
    expect(page.locator("#viewer-title")).to_have_text("Game 0-1-2999")
    expect(page.locator("#page")).to_have_text("Page 1 of 60")
    assert page.locator("#rows tr").count() == 50
    page.locator("#headings .id button").click()
    assert page.locator("#rows .id").first.inner_text() == "0-1-2999"
