"""Agents of notebooks and scripts: what a function needs becomes a module."""

import itertools
import linecache
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kaggle_environments.agent import get_last_callable

from submission import bundle, write
from submission.bundle import BundleError, locate

NUMBERS = itertools.count()


class Notebook:
    """Runs cells as IPython does: each in a file of its own that is only in `linecache`."""

    def __init__(self) -> None:
        self.space: dict[str, Any] = {"__name__": "__main__"}

    def run(self, cell: str) -> None:
        name = f"<cell {next(NUMBERS)}>"
        linecache.cache[name] = (len(cell), None, cell.splitlines(keepends=True), name)
        exec(compile(cell, name, "exec", dont_inherit=True), self.space)


@pytest.fixture
def notebook() -> Notebook:
    return Notebook()


def bundled(notebook: Notebook, name: str = "agent") -> Any:
    return get_last_callable(bundle(notebook.space[name]))


def test_functions_classes_imports_and_values_follow(notebook: Notebook) -> None:
    notebook.run(
        "import math, os.path\nimport numpy as np\nfrom collections import deque as queue\n"
        "import collections.abc\n"
    )
    notebook.run(
        "WEIGHTS = {'a': [1, 2.5, -0.0], (1,): {3}, 'e': float('inf')}\nTEXT = 'größe\\'\\n'\n"
        "UNUSED = object()\n"
    )
    notebook.run(
        "def twice(function):\n    def inner(*arguments):\n"
        "        return 2 * function(*arguments)\n    return inner\n\n"
        "class Base:\n    LIMIT = math.floor(3.5)\n    def value(self, x: int = 3) -> 'int':\n"
        "        return helper(x) + self.LIMIT\n\n"
        "class Player(Base):\n    '''Plays.\n\n  text'''\n    @staticmethod\n    def name():\n"
        "        return os.path.basename('/a/b')\n"
    )
    notebook.run(
        "def helper(x):\n    return x and later(x - 1) + len(queue([1]))\n\n"
        "def later(x):\n    return helper(x) if isinstance(x, collections.abc.Hashable) else None\n"
    )
    notebook.run(
        "def my_agent(obs, config):\n"
        "    return [Player().value(), Player.name(), WEIGHTS, TEXT, int(np.sum([1, 2]))]\n"
    )
    text = bundle(notebook.space["my_agent"])
    assert "UNUSED" not in text
    assert "Plays.\n\n  text" in text
    agent = get_last_callable(text)
    assert agent(None, None) == notebook.space["my_agent"](None, None)
    assert agent.__name__ == "my_agent"
    assert bundle(notebook.space["my_agent"]) == text


def test_what_runs_at_once_stands_behind_what_it_needs(notebook: Notebook) -> None:
    notebook.run(
        "def zero(n):\n    return start() if n else 0\n\ndef start():\n    return LIMIT\n\nLIMIT = 5\n"
    )
    notebook.run(
        "def deco(function):\n    return table(function)\n\ndef table(function):\n"
        "    function.extra = Table.SIZE\n    return function\n\n"
        "class Table:\n    SIZE = zero(1)\n\n"
        "@deco\ndef aaa(obs):\n    return obs + aaa.extra + (agent(0, 0) if obs > 5 else 0)\n\n"
        "def agent(obs, config):\n    return aaa(obs)\n"
    )
    assert [bundled(notebook)(number, None) for number in (1, 7)] == [
        notebook.space["agent"](number, None) for number in (1, 7)
    ]


def test_cached_functions_and_state(notebook: Notebook) -> None:
    notebook.run("import functools\ncalls = 0\nseen = []\nsame = seen\n")
    notebook.run(
        "@functools.lru_cache(maxsize=None)\ndef fib(n):\n    global calls\n    calls += 1\n"
        "    return n if n < 2 else fib(n - 1) + fib(n - 2)\n\n"
        "def agent(obs, config):\n    same.append(obs)\n    return [fib(obs), calls, seen]\n"
    )
    assert bundled(notebook)(10, None) == notebook.space["agent"](10, None) == [55, 11, [10]]


def test_arrays_are_embedded(notebook: Notebook) -> None:
    notebook.run(
        "import numpy as np\nNET = {'first': np.arange(6.).reshape(2, 3), 'second': [np.float32(0.1)]}\n"
        "BIAS = np.asfortranarray(np.ones((2, 2), dtype='int8'))\n"
        "def agent(obs, config):\n    return [NET, BIAS]\n"
    )
    net, bias = bundled(notebook)(None, None)
    assert np.array_equal(net["first"], notebook.space["NET"]["first"])
    assert net["second"] == [np.float32(0.1)]
    assert type(net["second"][0]) is np.float32
    assert bias.dtype == np.int8
    assert bias.flags.f_contiguous


def test_dataclasses_enums_and_named_tuples(notebook: Notebook) -> None:
    notebook.run(
        "from __future__ import annotations\nfrom dataclasses import dataclass, field\n"
        "from enum import IntEnum\n"
        "from typing import NamedTuple\n"
    )
    notebook.run(
        "from __future__ import annotations\n@dataclass(order=True)\nclass Move:\n    column: int\n"
        "    note: list = field(default_factory=list)\n\n"
        "class Mark(IntEnum):\n    ONE = 1\n    TWO = 2\n\nclass Pair(NamedTuple):\n    a: int\n"
        "    b: Mark = Mark.TWO\n\n"
        "def agent(obs: Move, config) -> int:\n    return [Move(3).column, Pair(1).b, repr(Move(2))]\n"
    )
    assert bundled(notebook)(None, None) == notebook.space["agent"](None, None)


def test_the_kit_and_modules_beside_the_notebook(
    notebook: Notebook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "strategy_of_test.py").write_text(
        "import math\n\nDEPTH = 2\n\n\ndef pick():\n    return math.floor(DEPTH + 0.5)\n"
    )
    (tmp_path / "book.bin").write_bytes(b"book")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    notebook.run(
        "from engine.board import Board\nfrom engine.resources import data\n"
        "import strategy_of_test as strategy\n"
        "def agent(obs, config):\n"
        "    return [Board(6, 7, 4).legal_moves(), strategy.pick(), data('book.bin')]\n"
    )
    expected = notebook.space["agent"](None, None)
    text = bundle(notebook.space["agent"])
    sys.modules.pop("strategy_of_test")
    assert get_last_callable(text)(None, None) == expected
    assert str(tmp_path) not in text


def test_write_shows_what_the_file_is_made_of(
    notebook: Notebook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    notebook.run(
        "import numpy as np\nNET = np.zeros(1000)\ndef agent(obs, config):\n    return int(NET[0])\n"
    )
    written = write(notebook.space["agent"])
    assert (tmp_path / "main.py").read_text() == written.bundle.text
    assert "NET.npy: 8,128 bytes" in str(written)
    assert "NET.npy" in written._repr_html_()
    lines = written.bundle.text.split("\n")
    place = locate(written.bundle.text, lines.index("def agent(obs, config):") + 1)
    assert place
    assert place[0] == "notebook"


CLOSURE = "def make(n):\n    def agent(obs, config):\n        return n\n    return agent\nagent = make(3)\n"


@pytest.mark.parametrize(
    ("cell", "refusal"),
    [
        (CLOSURE, "`agent`: this function keeps n of the function around it; define it at the top level"),
        ("agent = lambda obs, config: 3\n", "`agent`: the text of a lambda|stands for something else"),
        (
            "MODEL = object()\ndef agent(obs, config):\n    return MODEL\n",
            "`MODEL`: a builtins.object cannot be",
        ),
        (
            "import threading\nLOCK = threading.Lock()\ndef agent(obs, config):\n    return LOCK\n",
            "`LOCK`: a _thread",
        ),
        (
            "def agent(obs, config):\n    return missing\n",
            "`missing`: nothing of this name is there; run the cell",
        ),
        (
            "PICK = lambda x: x\ndef agent(obs, config):\n    return PICK(1)\n",
            "`PICK`: this is another name|lambda",
        ),
        (
            "A = [1]\nB = [A]\ndef agent(obs, config):\n    return [A, B]\n",
            "`B`: it shares a list with `A`; make a",
        ),
        ("A = []\nA.append(A)\ndef agent(obs, config):\n    return A\n", "`A`: it shares a list with `A`"),
        (
            "N = 2\ndef agent(obs, config, n=N):\n    return n\nN = 3\n",
            "`agent`: its default N was computed when",
        ),
        ("def agent(obs, config):\n    return get_ipython()\n", "`get_ipython`: nothing of this name"),
        (
            "class Bot:\n    def __call__(self, obs, config):\n        return 0\nagent = Bot()\n",
            "'Bot' is no plain",
        ),
        (
            "import scipy\ndef agent(obs, config):\n    return scipy.pi\n",
            "`scipy` is no module here and neither",
        ),
    ],
)
def test_refused(cell: str, refusal: str, notebook: Notebook) -> None:
    notebook.run(cell)
    with pytest.raises(BundleError, match=refusal) as error:
        bundle(notebook.space["agent"])
    assert str(error.value).startswith("notebook:")


def test_changed_text_is_refused(notebook: Notebook) -> None:
    notebook.run("def agent(obs, config):\n    return 3\n")
    (name,) = [name for name in linecache.cache if name == notebook.space["agent"].__code__.co_filename]
    linecache.cache[name] = (0, None, ["def agent(obs, config):\n", "    return 4\n"], name)
    with pytest.raises(
        BundleError, match="`agent`: its source text has changed since it ran; run its cell again"
    ):
        bundle(notebook.space["agent"])


def test_a_folder_and_a_package(tmp_path: Path) -> None:
    folder = tmp_path / "mybot"
    folder.mkdir()
    (folder / "main.py").write_text(
        "from helper import pick\n\n\ndef agent(obs, config):\n    return pick()\n"
    )
    (folder / "helper.py").write_text("def pick():\n    return 4\n")
    assert get_last_callable(bundle(folder))(None, None) == 4
    (folder / "__init__.py").write_text("BEST = 5\n")
    (folder / "main.py").write_text(
        "from . import BEST\nfrom .helper import pick\n\n\ndef agent(obs, config):\n"
        "    return pick() + BEST\n"
    )
    assert get_last_callable(bundle(f"{folder}/"))(None, None) == 9
    assert get_last_callable(bundle(folder / "main.py"))(None, None) == 9


def test_a_module_that_is_in_two_places_is_refused(tmp_path: Path) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "board.py").write_text("class Board:\n    pass\n")
    (tmp_path / "main.py").write_text(
        "from engine.board import Board\n\n\ndef agent(obs, config):\n    return Board\n"
    )
    with pytest.raises(
        BundleError, match=r"main.py:1: `engine` is in .* and in .*, too; rename one of the two"
    ):
        bundle(tmp_path / "main.py")
