"""Every notebook runs from top to bottom, in a folder like its own and without the internet."""

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A copy of the kit's layout whose notebooks/ may be written to; no proxy, so no way out."""
    for folder in ("engine", "agents", "evaluation", "play", "submission"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    (tmp_path / "notebooks").mkdir()
    for proxy in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(proxy, "http://127.0.0.1:9")
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    return tmp_path / "notebooks"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path, workplace):
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=240, resources={"metadata": {"path": str(workplace)}})
    client.execute(env=dict(os.environ))
    errors = [
        output
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.output_type == "stream" and output.name == "stderr"
        if "building the font cache" not in output.text  # matplotlib, once on every machine
    ]
    assert not errors, errors


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_stored_without_outputs(path):
    for cell in nbformat.read(path, as_version=4).cells:
        assert not cell.get("outputs"), cell.source
        assert cell.get("execution_count") is None, cell.source


def test_there_are_notebooks():
    assert {"01_first_submission", "02_measuring_strength"} <= {path.stem for path in NOTEBOOKS}
