"""Agent specs: what they say, what they refuse, and that files run as under Kaggle's own loader."""

import ast
import sys
import traceback
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation import loading
from evaluation.errors import InputError
from evaluation.loading import (
    SpecError,
    agent_name,
    known_agents,
    load_agent,
    module_path,
    parse_spec,
    replace_constants,
)

OBS = SimpleNamespace(board=[0] * 42, mark=1, step=0, remainingOverageTime=60)


@pytest.fixture
def config():
    """A configuration as agents get it: keys are attributes as well."""

    class Struct(dict):
        __getattr__ = dict.__getitem__

    return Struct(rows=6, columns=7, inarow=4, actTimeout=2)


@pytest.fixture
def agents(tmp_path, monkeypatch):
    """A folder that takes the place of agents/; calling it with a name and a source adds a module."""
    monkeypatch.setattr(loading, "AGENTS", tmp_path)

    def add(name, source):
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
        return name

    return add


@pytest.fixture
def submission(tmp_path):
    def write(source, name="main.py"):
        path = tmp_path / name
        path.write_text(source, encoding="utf-8")
        return str(path)

    return write


@pytest.mark.parametrize(
    ("spec", "target", "constants"),
    [
        ("perfect", "perfect", {}),
        ("n_step:N_STEPS=5", "n_step", {"N_STEPS": 5}),
        ("n_step:N_STEPS=5,PRESET='video'", "n_step", {"N_STEPS": 5, "PRESET": "video"}),
        ("n_step:PRESET=video, N_STEPS=5", "n_step", {"PRESET": "video", "N_STEPS": 5}),
        ("a:X=-2.5,Y=True,Z=None", "a", {"X": -2.5, "Y": True, "Z": None}),
        ("a:X='a,b:c=d',Y=[1, 2]", "a", {"X": "a,b:c=d", "Y": [1, 2]}),
        ("path/to/main.py", "path/to/main.py", {}),
        ("path/to/main.py:A=1", "path/to/main.py", {"A": 1}),
        ("C:\\kit\\main.py", "C:\\kit\\main.py", {}),
        ("C:\\kit\\main.py:A=1", "C:\\kit\\main.py", {"A": 1}),
        ("kaggle:negamax", "kaggle:negamax", {}),
    ],
)
def test_parse_spec(spec, target, constants):
    assert parse_spec(spec) == (target, constants)


@given(st.one_of(st.integers(), st.booleans(), st.text(), st.floats(allow_nan=False, allow_infinity=False)))
def test_any_literal_comes_back(value):
    assert parse_spec(f"n_step:X={value!r},Y=1") == ("n_step", {"X": value, "Y": 1})


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("", "'' is no agent: write NAME"),
        ("two words", "'two words' is no agent"),
        ("n_step:5", "'n_step:5' is no agent"),
        ("n_step:", "'n_step:' is no agent"),
        ("n_step:A=", "'A=' cannot be read"),
        ("n_step:A=1, 5", "'A=1, 5' cannot be read"),
        ("n_step:A=1)+(", "'A=1)+(' cannot be read"),
        ("n_step:A=(", "cannot be read"),
        ("n_step:A=1,A=2", "once"),
        ("n_step:A=1,**B", "once"),
        ("n_step:A=one-step", "the value one - step of A is no number or name"),
        ("n_step:A=f(1)", "the value f(1) of A"),
    ],
)
def test_parse_spec_refuses(spec, complaint):
    with pytest.raises(SpecError) as error:
        parse_spec(spec)
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)
    assert isinstance(error.value, InputError)


SOURCE = """\
# Größe: the sizes
SIZE = 3  # discs: ünî
RATE: float = 0.5
NAME = "é"; PAIR = (1,
    2)  # two
ANY = None
_PRIVATE = 1
lower = 2
COMPUTED = max(1, 2)
def agent(obs, config):
    SIZE = 4
    return SIZE
"""


@pytest.mark.parametrize(
    ("constants", "lines"),
    [
        ({}, {}),
        ({"SIZE": 12}, {2: "SIZE = 12  # discs: ünî"}),
        ({"RATE": 2}, {3: "RATE: float = 2"}),
        ({"NAME": "ü"}, {4: "NAME = 'ü'; PAIR = (1,"}),
        ({"PAIR": (7,)}, {4: 'NAME = "é"; PAIR = ((7,)', 5: ")  # two"}),
        (
            {"PAIR": (7,), "NAME": "x", "SIZE": 0},
            {2: "SIZE = 0  # discs: ünî", 4: "NAME = 'x'; PAIR = ((7,)", 5: ")  # two"},
        ),
        ({"ANY": "thing"}, {6: "ANY = 'thing'"}),
    ],
)
def test_replace_constants_changes_the_values_and_nothing_else(constants, lines):
    expected = SOURCE.splitlines()
    for number, line in lines.items():
        expected[number - 1] = line
    replaced = replace_constants(SOURCE, constants, "a.py")
    assert replaced.splitlines() == expected
    namespace = {}
    exec(replaced, namespace)
    assert {name: namespace[name] for name in constants} == constants
    assert ast.parse(replaced).body[-1].lineno == ast.parse(SOURCE).body[-1].lineno


@pytest.mark.parametrize(
    ("constants", "complaint"),
    [
        ({"DEPTH": 3}, "a.py has no constant DEPTH: it has SIZE, RATE, NAME, PAIR, ANY"),
        ({"_PRIVATE": 3}, "no constant _PRIVATE"),
        ({"lower": 3}, "no constant lower"),
        ({"COMPUTED": 3}, "no constant COMPUTED"),
        ({"SIZE": "five"}, "a.py: SIZE is 3, so its value must be of type int, not 'five'"),
        ({"SIZE": True}, "of type int, not True"),
        ({"SIZE": 3.0}, "of type int, not 3.0"),
        ({"NAME": None}, "of type str, not None"),
    ],
)
def test_replace_constants_refuses(constants, complaint):
    with pytest.raises(SpecError) as error:
        replace_constants(SOURCE, constants, "a.py")
    assert complaint in str(error.value)


def test_replace_constants_in_a_module_without_any():
    with pytest.raises(SpecError, match="it has none"):
        replace_constants("x = 1\n", {"A": 1}, "a.py")


def test_replace_constants_names_the_line_it_cannot_read():
    with pytest.raises(SpecError, match=r"a\.py, line 2: "):
        replace_constants("A = 1\nif\n", {"A": 2}, "a.py")


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_replace_constants_keeps_line_ends(ends):
    source = ends.join(["A = 1", "B = '\f'  # \u2028", "C = 2", ""])
    expected = ends.join(["A = 1", "B = '\f'  # \u2028", "C = 5", ""])
    assert replace_constants(source, {"C": 5}, "a.py") == expected


def test_there_is_a_file_for_every_known_agent():
    assert "random_legal" in known_agents()
    assert all(module_path(name).is_file() for name in known_agents())
    assert not any(name.startswith("_") for name in known_agents())


def test_an_unknown_agent_lists_what_there_is():
    with pytest.raises(SpecError) as error:
        load_agent("randm")
    assert all(name in str(error.value) for name in ("'randm'", "random_legal", "kaggle:negamax"))


@pytest.mark.parametrize("spec", known_agents())
def test_every_agent_of_the_kit_loads_and_moves(spec, config):
    from evaluation.referee import play_game

    record = play_game(
        [load_agent(spec), load_agent("random_legal")],
        {"columns": 4, "rows": 3, "inarow": 3, "actTimeout": 0.1},
    )
    assert record.culprit is None


def test_constants_take_effect(agents):
    agents("sized", "SIZE = 3\ndef agent(obs, config):\n    return SIZE\n")
    assert load_agent("sized")(OBS, {}) == 3
    assert load_agent("sized:SIZE=5")(OBS, {}) == 5
    assert load_agent("sized")(OBS, {}) == 3


def test_every_load_is_a_fresh_one(agents):
    agents("counter", "calls = []\ndef agent(obs, config):\n    calls.append(1)\n    return len(calls)\n")
    one, two = load_agent("counter"), load_agent("counter")
    assert [one(OBS, {}), one(OBS, {}), two(OBS, {})] == [1, 2, 1]


def test_loading_leaves_imported_modules_alone(agents):
    from agents import random_legal

    agents("random_legal", "def agent(obs, config):\n    return 6\n")
    agents("other", "def agent(obs, config):\n    return 5\n")
    assert load_agent("random_legal")(OBS, {}) == 6
    assert load_agent("other")(OBS, {}) == 5
    assert sys.modules["agents.random_legal"] is random_legal
    assert "agents.other" not in sys.modules


def test_a_changed_file_is_loaded_again(agents, tmp_path):
    import os

    agents("edited", "def agent(obs, config):\n    return 1\n")
    assert load_agent("edited")(OBS, {}) == 1
    agents("edited", "def agent(obs, config):\n    return 2\n")
    os.utime(tmp_path / "edited.py", ns=(1, 1))
    assert load_agent("edited")(OBS, {}) == 2


def test_dataclasses_work_in_an_agent(agents):
    agents(
        "classy",
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "from typing import ClassVar\n"
        "@dataclass\n"
        "class Move:\n"
        "    column: int\n"
        "    limit: ClassVar[int] = 7\n"
        "def agent(obs, config):\n    return Move(4).column\n",
    )
    assert load_agent("classy")(OBS, {}) == 4


def test_a_traceback_shows_the_file_and_the_line(agents, tmp_path):
    agents("broken", "DEPTH = 1\n\n\ndef agent(obs, config):\n    return 1 // 0  # here\n")
    with pytest.raises(ZeroDivisionError) as error:
        load_agent("broken:DEPTH=2")(OBS, {})
    text = "".join(traceback.format_exception(error.value))
    assert f'File "{tmp_path / "broken.py"}", line 5, in agent' in text
    assert "return 1 // 0  # here" in text


def test_a_module_without_an_agent_is_refused(agents):
    agents("empty", "def player(obs, config):\n    return 0\n")
    with pytest.raises(SpecError, match=r"empty\.py defines no function agent"):
        load_agent("empty")


def test_a_callable_is_itself():
    assert load_agent(agent_name) is agent_name


def test_kaggles_own_agents():
    assert load_agent("kaggle:random").__name__ == "random_agent"
    assert load_agent("kaggle:negamax").__name__ == "negamax_agent"
    with pytest.raises(InputError, match="alphazero"):
        load_agent("kaggle:alphazero")
    with pytest.raises(SpecError, match="no constants"):
        load_agent("kaggle:negamax:DEPTH=3")


def test_names_in_reports():
    from agents.random_legal import agent

    assert agent_name("n_step:N_STEPS=5") == "n_step:N_STEPS=5"
    assert agent_name(agent) == "random_legal"
    assert agent_name(lambda *_: 0) == "<lambda>"
    assert agent_name(load_agent("kaggle:negamax")) == "negamax_agent"
    assert agent_name(SimpleNamespace()) == "SimpleNamespace"


def test_a_file_is_run_on_its_first_move_and_once(submission, config, capsys):
    agent = load_agent(submission("print('loading')\ndef agent(obs, config):\n    return 3\n"))
    assert capsys.readouterr().out == ""
    assert [agent(OBS, config), agent(OBS, config)] == [3, 3]
    assert capsys.readouterr().out == "loading\n"


def test_a_file_is_read_when_it_is_loaded(submission, config, tmp_path):
    agent = load_agent(submission("def agent(obs, config):\n    return 3\n"))
    (tmp_path / "main.py").unlink()
    assert agent(OBS, config) == 3


def test_constants_of_a_file(submission, config):
    path = submission("DEPTH = 1\ndef agent(obs, config):\n    return DEPTH\n")
    assert load_agent(f"{path}:DEPTH=6")(OBS, config) == 6


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(SpecError, match=r"cannot read .*missing\.py: No such file"):
        load_agent(str(tmp_path / "missing.py"))
    with pytest.raises(SpecError, match="cannot read"):
        load_agent(str(tmp_path) + "/")
    (tmp_path / "latin.py").write_bytes(b"# \xe9\n")
    with pytest.raises(SpecError, match="not UTF-8"):
        load_agent(str(tmp_path / "latin.py"))


def test_sys_path_is_as_before(submission, config):
    before = sys.path[:]
    with pytest.raises(NameError):
        load_agent(submission("nothing\n"))(OBS, config)
    load_agent(submission("def agent(obs, config):\n    return 1\n"))(OBS, config)
    assert sys.path == before


# Each source with the move that it makes under Kaggle's loader; None where it fails there.
FILES = {
    "plain": ("def agent(obs, config):\n    return 2\n", 2),
    "helper bound last": (
        "def agent(obs, config):\n    return 2\ndef helper(obs, config):\n    return 3\n",
        3,
    ),
    "first binding counts": (
        "def agent(obs, config):\n    return 1\ndef helper(obs, config):\n    return 3\n"
        "def agent(obs, config):\n    return 2\n",
        3,
    ),
    "only the observation": ("def agent(obs):\n    return obs.mark\n", 1),
    "no argument": ("def agent():\n    return 4\n", 4),
    "star arguments get none": ("def agent(*args):\n    return len(args)\n", 0),
    "an object": (
        "class Player:\n    def __call__(self, obs, config):\n        return 5\nplayer = Player()\n",
        5,
    ),
    "a class": ("class Player:\n    def __call__(self, obs, config):\n        return 5\n", None),
    "no main guard": (
        "def agent(obs):\n    return 2\nif __name__ == '__main__':\n    def other():\n        return 3\n",
        2,
    ),
    "the name": ("def agent(obs, config):\n    return len(__name__)\n", len("builtins")),
    "no __file__": ("def agent(obs, config):\n    return len(__file__)\n", None),
    "its folder while it is run": (
        "import neighbour\ndef agent(obs, config):\n    return neighbour.MOVE\n",
        6,
    ),
    "not its folder later": ("def agent(obs, config):\n    import late_neighbour\n    return 6\n", None),
    "its path": ("def agent(obs, config):\n    return len(config['__raw_path__'][-7:])\n", 7),
    "nothing callable": ("move = 3\n", None),
    "a syntax error": ("def agent(obs, config)\n", None),
    "an error while loading": ("1 / 0\ndef agent(obs, config):\n    return 2\n", None),
}


@pytest.mark.parametrize("name", FILES)
def test_files_run_as_under_kaggles_loader(name, submission, config, monkeypatch):
    build_agent = pytest.importorskip("kaggle_environments.agent").build_agent
    source, expected = FILES[name]
    path = submission(source)
    submission("MOVE = 6\n", "neighbour.py")
    submission("", "late_neighbour.py")
    theirs, _ = build_agent(path, {}, "connectx")
    for agent in (load_agent(path), theirs):
        monkeypatch.setattr(sys, "path", sys.path[:])  # Kaggle's stays longer after a failure
        monkeypatch.delitem(sys.modules, "neighbour", raising=False)
        try:
            move = agent(OBS, config)
        except Exception:
            move = None
        assert move == expected
