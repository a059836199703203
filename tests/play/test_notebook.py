"""The board in a notebook, in a headless kernel: what it shows, and what clicks on it do."""

import os
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from engine.board import Board
from evaluation.errors import InputError
from evaluation.loading import SpecError
from play import notebook
from play.records import Records, Standing
from play.session import Outcome, Reason

ROOT = Path(__file__).parent.parent.parent
SCRIPTED = "def agent(obs, config):\n    return int({answers!r}[obs.step // 2]) - 1\n"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home of its own, and agents that may be clicked at once."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(sys.modules["play.notebook"], "DEAF", 0)
    monkeypatch.setattr(sys.modules["play.notebook"], "PAUSE", 0)


@pytest.fixture
def scripted(tmp_path):
    """The spec of an agent that plays the columns of a string, numbered from 1."""

    def spec(answers):
        path = tmp_path / f"answers_{answers}.py"
        path.write_text(SCRIPTED.format(answers=answers))
        return str(path)

    return spec


@pytest.fixture
def show(monkeypatch):
    """`notebook`, with widgets but without anything displayed."""
    pytest.importorskip("ipywidgets")
    display = pytest.importorskip("IPython.display")
    monkeypatch.setattr(display, "display", lambda _: None)
    return notebook


def click(board, *columns):
    """Clicks on the top cells of columns, numbered from 1."""
    for column in columns:
        board.cells[board.session.board.geometry.rows - 1, column - 1].click()


def told(board, height, column):
    return board.cells[height, column - 1].description


def test_a_game_is_won_by_clicking(show, scripted):
    spec = scripted("1111")
    board = show(spec, begins="you")
    assert board.status.value == "you (X) to move"
    click(board, 4)
    assert (told(board, 0, 4), told(board, 0, 1)) == ("X", "[O]")
    assert board.cells[0, 3].style.button_color != board.cells[0, 0].style.button_color
    click(board, 4, 4, 4)
    assert board.session.result == Outcome(1, Reason.LINE)
    assert [told(board, height, 4) for height in range(5)] == ["(X)"] * 4 + [""]
    assert board.status.value.startswith("Congratulations! Your first win against ")
    assert Records().standing(spec, Board()) == Standing(games=1, wins=1, fewest_discs=7)
    click(board, 1)  # the game is over
    assert len(board.session.moves) == 7
    board.buttons["New game"].click()
    assert (board.session.moves, told(board, 0, 4)) == ([], "")
    assert board.status.value == "you (X) to move"


def test_the_agent_begins_and_wins(show, scripted):
    board = show(scripted("1111"), begins="agent")
    assert board.session.moves == [0]
    click(board, 2, 2, 2)
    assert board.session.result == Outcome(1, Reason.LINE)
    assert "has won this time" in board.status.value


def test_a_full_column_is_refused(show, scripted):
    board = show(scripted("12"), rows=1, columns=3, inarow=3, begins="you")
    click(board, 3, 3)
    assert board.status.value == "column 3 is full"
    assert board.session.moves == [2, 0]
    click(board, 2)
    assert board.status.value.startswith("A draw: neither you nor ")


def test_undo_redo_hint_and_resign(show, scripted):
    board = show(scripted("1234"), begins="you", seconds=0.1)
    click(board, 4, 5)
    board.buttons["Undo"].click()
    assert board.session.moves == [3, 0]
    board.buttons["Redo"].click()
    assert board.session.moves == [3, 0, 4, 1]
    board.buttons["Redo"].click()
    assert board.session.moves == [3, 0, 4, 1]
    board.buttons["Hint"].click()
    assert board.status.value.startswith("Hint: column ")
    board.buttons["Resign"].click()
    assert board.session.result == Outcome(2, Reason.RESIGNED)
    assert "has won this time" in board.status.value
    board.buttons["Undo"].click()
    assert board.session.result is None


def test_a_second_click_does_not_reach_the_next_position(show, scripted, monkeypatch):
    board = show(scripted("1111"), begins="you")
    monkeypatch.setattr(sys.modules["play.notebook"], "DEAF", 1000)
    click(board, 4, 4)
    assert board.session.moves == [3, 0]


def test_an_agent_that_breaks_forfeits(show):
    def agent(obs, config):
        raise RuntimeError("<no>")

    board = show(agent, begins="agent")
    assert board.session.result == Outcome(2, Reason.FORFEIT)
    assert board.status.value.startswith("test_notebook failed with RuntimeError: &lt;no&gt;. you (O) won: ")
    assert not Records().path.exists()


def test_two_agents_are_watched(show, scripted):
    board = show(scripted("1111"), scripted("2222"))
    assert board.session.moves == []
    board.buttons["Next move"].click()
    assert board.session.moves == [0]
    board.buttons["Undo"].click()
    board.buttons["Redo"].click()
    assert board.session.moves == [0]
    click(board, 4)  # nobody to move for
    board.buttons["Play on"].click()
    assert board.session.result == Outcome(1, Reason.LINE)
    assert board.status.value.endswith("answers_1111.py (X) won.")
    assert not Records().path.exists()


def test_levels_are_agents(show):
    board = show("Easy", "Expert")
    assert board.session.players == ("Easy", "Expert")
    assert repr(show(begins="you")) == "<NotebookBoard: you against Medium, you (X) to move>"


def test_what_cannot_be_played():
    with pytest.raises(InputError, match="begins='me': give random, you or agent"):
        notebook(begins="me")
    with pytest.raises(SpecError, match="no agent 'nobody'"):
        notebook("nobody")
    with pytest.raises(SpecError, match="'' is no agent"):
        notebook("")


def run(tmp_path, *cells):
    """The outputs of a notebook with these cells."""
    sheet = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "IPYTHONDIR": str(tmp_path / "ipython")}
    NotebookClient(sheet, timeout=240, resources={"metadata": {"path": str(tmp_path)}}).execute(
        env=environment
    )
    return [cell.outputs for cell in sheet.cells]


def test_a_kernel_shows_the_board(tmp_path):
    pytest.importorskip("ipywidgets")
    outputs = run(
        tmp_path,
        "import play\nboard = play.notebook('one_step', begins='you')",
        "board.cells[0, 3].click()\nprint(len(board.session.moves), board.status.value)",
    )
    assert "application/vnd.jupyter.widget-view+json" in outputs[0][0].data
    assert outputs[1][0].text == "2 you (X) to move\n"


def test_without_widgets_it_is_kaggles_board(tmp_path):
    outputs = run(
        tmp_path,
        "import sys\nsys.modules['ipywidgets'] = None\nimport play\n"
        "print(play.notebook('one_step', begins='you', columns=5))",
        "from kaggle_environments.core import interactives\n"
        "(env, trainer), = interactives.values()\n"
        "trainer.step(3)  # what a click does\n"
        "print(sum(map(bool, env.state[0].observation.board)), env.configuration.columns)",
    )
    told = {output.get("name", output.output_type): output for output in outputs[0]}
    assert "ipywidgets is not installed: Kaggle's own board is shown" in told["stderr"].text
    assert "<iframe" in told["display_data"].data["text/html"]
    assert told["stdout"].text == "None\n"
    assert outputs[1][-1].text == "2 5\n"
