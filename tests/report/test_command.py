"""`python -m evaluation report` as a person runs it."""

import sys
from itertools import islice

import pytest

from evaluation import console
from evaluation.__main__ import app
from evaluation.analysis import MEMORY_FILE
from evaluation.referee import play_game
from evaluation.report.reading import analyses


@pytest.fixture
def report(monkeypatch, capsys):
    """Runs the command in this process: its exit status and what it wrote to standard error."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["evaluation", "report", *map(str, arguments)])
        monkeypatch.setattr(console.messages, "_file", None)
        with pytest.raises(SystemExit) as end:
            console.run(app)
        return end.value.code or 0, capsys.readouterr().err

    return run


@pytest.fixture
def folder(make, tmp_path):
    return make.tournament(tmp_path / "games", {"a": make.chooser(1), "b": make.chooser(2)}, 6)


def test_the_page_is_in_the_folder_or_where_it_was_asked_for(report, folder, tmp_path):
    status, said = report(folder, "--jobs", "1")
    page = folder / "report.html"
    assert (status, page.exists()) == (0, True)
    assert said.startswith(f"6 games, 6 analysed: {page} (")
    assert (folder / MEMORY_FILE).exists()
    status, said = report(folder, "-o", tmp_path / "other.html", "--no-analysis")
    assert said.startswith(f"6 games, 0 analysed: {tmp_path / 'other.html'} (")
    assert (tmp_path / "other.html").read_text().startswith("<!doctype html>")


def test_the_page_of_a_file_is_beside_it(report, make, tmp_path):
    source = make.records(
        tmp_path / "game.json", play_game([make.chooser(1), make.chooser(2)], {"rows": 4, "columns": 5})
    )
    status, said = report(source)
    assert (status, said) == (0, f"1 game, 1 analysed: {tmp_path / 'game.json.html'} (0.1 MB)\n")
    assert (tmp_path / "game.json.html").exists()


@pytest.mark.parametrize(
    "arguments", [["absent"], ["empty"], ["game.json", "-o", "no/page.html"], ["game.json", "--jobs", "0"]]
)
def test_what_cannot_be_done_is_told_in_a_line(arguments, report, monkeypatch, make, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "game.json").write_text("{}")
    (tmp_path / "empty").mkdir()
    status, said = report(*arguments)
    assert status == 2
    assert said.startswith("error: ")
    assert said.count("\n") == 1


def test_ctrl_c_tells_what_is_kept_and_the_next_run_goes_on(report, folder, monkeypatch):
    def interrupted(games, **options):
        yield from islice(analyses(games, **options), 4)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("evaluation.report.reading.analyses", interrupted)
        status, said = report(folder, "--jobs", "1")
    assert status == 130
    assert said.splitlines() == [
        f"4 of 6 games were analysed; what was solved is kept in {folder / MEMORY_FILE}. "
        "The same command goes on; --minutes N analyses for so long, --no-analysis not at all",
        "stopped",
    ]
    assert not (folder / "report.html").exists()
    solved = (folder / MEMORY_FILE).read_text()
    assert report(folder, "--jobs", "1")[0] == 0
    assert (folder / MEMORY_FILE).read_text().startswith(solved)


def test_a_limit_of_minutes_leaves_the_rest_unsolved(report, folder):
    status, said = report(folder, "--minutes", "0")
    assert status == 0
    assert said.splitlines()[0] == "6 of 6 games are shown without exact values: 0 minutes are over"
