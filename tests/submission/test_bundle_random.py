"""Random small programs of several modules: the bundle does what the program does, or is refused."""

import importlib
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from submission.bundle import BundleError, assemble

Files = dict[str, str]
STARTS = ["", '"""Text."""\n', "from __future__ import annotations\n", "import math as library\n"]
IMPORTS = [
    "from {module} import {names}",
    "from {module} import (\n    {names},  # a comment\n)",
    "from {module} import \\\n    {names}",
    "from {module} import {names}; import math",
    "import math; from {module} import {names}  # a comment",
]
CONSTANTS = ["{name} = {number}", "for {name} in range({number} + 1):\n    pass"]
FUNCTIONS = [
    "def {name}(x: Any = None):\n    {inside}\n    return x + max(1, {value})",
    "class {name}(int):\n    extra = {number}",
    "{name} = lambda x: max(x, {value})",
    "{name}_calls = 0\n"
    "def {name}(x):\n    global {name}_calls\n    {name}_calls += 1\n    return x * {name}_calls",
]


class Module:
    """What has been written of a module: its text, and its names with whether they are functions."""

    def __init__(self, draw: Callable[..., Any], number: int, names: list[str], aliases: list[str]) -> None:
        self.draw, self.own, self.aliases = draw, names, aliases
        self.package = draw(st.sampled_from(["", "pkg.", "pkg.sub."]))
        self.dotted = f"{self.package}m{number}"
        self.text = draw(st.sampled_from(STARTS)) + "from typing import Any\n"
        self.names: dict[str, bool] = {}

    def one_of(self, options: list[Any]) -> Any:
        return self.draw(st.sampled_from(options))

    def imported(self, other: "Module") -> tuple[str, dict[str, bool]]:
        """An import statement for some names of another module, and the names it binds."""
        chosen = self.draw(
            st.lists(st.sampled_from(sorted(other.names)), min_size=1, max_size=3, unique=True)
        )
        bound = [self.one_of([name, *self.aliases]) for name in chosen]
        names = ", ".join(f"{old} as {new}" for old, new in zip(chosen, bound, strict=True))
        paths = [other.dotted]
        if self.package and other.package.startswith(self.package):
            paths.append("." + other.dotted.removeprefix(self.package))
        if self.package == "pkg.sub." and other.package == "pkg.":
            paths.append("." + other.dotted.removeprefix("pkg"))
        statement = self.one_of(IMPORTS).format(module=self.one_of(paths), names=names)
        return statement, {new: other.names[old] for old, new in zip(chosen, bound, strict=True)}

    def value(self, names: dict[str, bool]) -> str:
        name = self.one_of([*sorted(names), "7"])
        return f"{name}(x)" if names.get(name) else name

    def write(self, before: list["Module"]) -> None:
        for other in before:
            if self.draw(st.booleans()):
                statement, bound = self.imported(other)
                self.text += statement + "\n"
                self.names |= bound
        for name in self.draw(st.lists(st.sampled_from(self.own), min_size=1, max_size=4)):
            form = self.one_of(CONSTANTS + FUNCTIONS)
            statement, bound = self.imported(self.one_of(before)) if before else ("pass", {})
            uses_it = "{inside}" in form
            value = self.value(self.names | bound if uses_it else self.names)
            inside = indent(statement, "    ").lstrip()
            self.text += form.format(name=name, number=self.one_of([0, 5]), value=value, inside=inside) + "\n"
            self.names[name] = form in FUNCTIONS


@st.composite
def programs(draw: Callable[..., Any], few_names: bool) -> Files:
    """The files of a program; with few names, modules and functions often bind the same ones."""
    modules: list[Module] = []
    for number in range(draw(st.integers(2, 4))):
        names = [f"{letter}{number}" for letter in "abcd"]
        aliases = [f"alias{number}", f"other{number}"]
        if few_names:
            names = draw(st.sampled_from([names, ["a", "b", "max"]]))
            aliases = ["a", "b", "max", "a0", "b0", "c0", "d0"]
        module = Module(draw, number, names, aliases)
        module.write(modules)
        modules.append(module)
    last = modules[-1]
    answers = [f"{name}(obs)" if is_function else name for name, is_function in last.names.items()]
    last.text += f"def agent(obs, config):\n    return [{', '.join(answers)}]\n"
    return {module.dotted.replace(".", "/") + ".py": module.text for module in modules}


def outcome(load: Callable[[], Any]) -> Any:
    """What the agent answers to two observations, or the type of the error."""
    try:
        agent = load()
        return [agent(1, None), agent(2, None)]
    except Exception as error:
        return type(error)


def package_outcome(folder: str, entry: str) -> Any:
    name = entry.removesuffix(".py").replace("/", ".")
    modules = set(sys.modules)
    sys.path.insert(0, folder)
    try:
        return outcome(lambda: importlib.import_module(name).agent)
    finally:
        sys.path.remove(folder)
        for added in set(sys.modules) - modules:
            del sys.modules[added]


def last_callable(text: str) -> Any:
    namespace: dict[str, Any] = {}
    exec(compile(text, "main.py", "exec"), namespace)
    return [value for value in namespace.values() if callable(value)][-1]


def check(files: Files) -> bool:
    """Compares program and bundle; False if it was refused."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", True)
        for name, text in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        entry = list(files)[-1]
        try:
            text = assemble(Path(folder, entry), [Path(folder)]).text
        except BundleError as refusal:
            event("refused: " + re.split(r"`| in a| in m| in p", str(refusal))[2])
            return False
        expected = package_outcome(folder, entry)
        event("bundled" if isinstance(expected, list) else f"bundled: {expected.__name__}")
        assert outcome(lambda: last_callable(text)) == expected, text
        return True


@given(programs(few_names=False))
@settings(max_examples=100, deadline=None)
def test_programs_whose_names_differ(files: Files) -> None:
    assert check(files), "there is nothing to refuse"


@given(programs(few_names=True))
@settings(max_examples=200, deadline=None)
def test_programs_whose_names_collide(files: Files) -> None:
    check(files)


@pytest.mark.slow
@given(st.booleans().flatmap(lambda few_names: programs(few_names=few_names)))
@settings(max_examples=5000, deadline=None)
def test_many_programs(files: Files) -> None:
    check(files)
