"""The page as text: it loads nothing, runs its own script alone, and escapes what comes from outside."""

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from evaluation.referee import play_game
from evaluation.replays import RecordedGame
from evaluation.report import gather, render
from evaluation.report.facts import Facts

NASTY = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "<img src=x onerror=alert(2)>",
    "\u2028\u2029'\"&amp;{{ 7 * 7 }}",
    "]]>\ud800\x00\x1b[31m",
]


class Elements(HTMLParser):
    """The elements of a page with their attributes, and its texts."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.found, self.texts = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def page(page_file):
    return page_file.read_text(encoding="utf-8")


def test_nothing_is_loaded(page):
    for tag, attributes in Elements(page).found:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "audio", "video", "source")
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")
        assert not any(name.startswith("on") or name == "style" for name in attributes)
    assert not re.search(r"@import|url\(", page)
    assert set(re.findall(r"https?://[^\s\"']*", page)) == {
        "http://www.w3.org/2000/svg"
    }  # the name of a namespace


def test_the_policy_allows_the_inline_style_and_script_alone(page):
    policy = next(a["content"] for t, a in Elements(page).found if a.get("http-equiv"))
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert rules[rule] == f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@pytest.mark.parametrize("text", NASTY)
def test_what_comes_from_outside_is_text(text, make):
    record = play_game([make.chooser(1), make.failing(text)])
    facts = Facts()
    facts.notes.append(text)
    for name in (text, "other"):
        facts.add(RecordedGame(name, (text, "plain"), record), None)
    page = render(facts)
    plain = Elements(render(gather_plain(make, record)))
    elements = Elements(page)
    assert [tag for tag, _ in elements.found if tag in ("script", "img")] == ["script", "script"]
    assert len(elements.found) >= len(plain.found)
    data = make.data(page)
    assert data["agents"] == [text, "plain"]
    assert data["games"][0]["id"] == text
    assert text.strip() in data["games"][0]["stderr"] or "\x1b" in text or "\ud800" in text
    shown = "".join(elements.texts)
    assert text.replace("\x00", "\ufffd") in shown or "\x00" in text
    inside = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1]
    assert not set(inside) & set("<>&\u2028\u2029")
    assert inside.isascii()


def gather_plain(make, record):
    facts = Facts()
    for name in ("one", "other"):
        facts.add(RecordedGame(name, ("first", "plain"), record), None)
    return facts


def test_tables_have_captions_and_headings_their_scope(page):
    elements = Elements(page)
    tags = [tag for tag, _ in elements.found]
    assert tags.count("table") == tags.count("caption") > 5
    assert all("scope" in attributes for tag, attributes in elements.found if tag == "th")
    assert tags.count("h1") == tags.count("main") == tags.count("header") == tags.count("nav") == 1
    ids = [attributes["id"] for _, attributes in elements.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    labelled = [
        attributes["aria-labelledby"] for _, attributes in elements.found if "aria-labelledby" in attributes
    ]
    assert set(labelled) <= set(ids)
    assert all(attributes["href"][1:] in ids for tag, attributes in elements.found if tag == "a")


def test_a_single_game_has_no_tournament_parts(make, tmp_path):
    source = make.records(
        tmp_path / "game.json", play_game([make.chooser(1), make.chooser(2)], {"rows": 4, "columns": 5})
    )
    page = render(gather(source))
    ids = {attributes.get("id") for _, attributes in Elements(page).found}
    assert {"viewer", "accuracy", "times", "settings"} <= ids
    assert not {"ratings", "cross-table", "endings", "games"} & ids


def test_the_page_says_what_the_tournament_says(page, tournament):
    from evaluation.tournament import read_tournament

    result = read_tournament(tournament)
    text = " ".join(" ".join(Elements(page).texts).split())
    for agent, name in enumerate(result.names):
        assert name in text
        assert f"{100 * result.total(agent).score:.1f}" in text
    assert "Games lost by forfeit: gamma_the_third" in text
    assert "Seed 7" in text
