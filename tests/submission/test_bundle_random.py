"""Random small programs of several modules: the bundle does what the program does."""

import importlib
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from textwrap import indent
from types import ModuleType
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from submission.bundle import assemble

Files = dict[str, str]
STARTS = ["", '"""Text."""\n', "from __future__ import annotations\n", "import math as library\n"]
IMPORTS = [
    "from {module} import {names}",
    "from {module} import (\n    {names},  # a comment\n)",
    "from {module} import \\\n    {names}",
    "from {module} import {names}; import math",
    "import math; from {module} import {names}  # a comment",
]
AROUND = [
    "{}",
    "{}",
    "{}",
    "try:\n    {}\nexcept ImportError:\n    pass",
    "if len(__name__) > 1:\n    {}",
    "if TYPE_CHECKING:\n    import missing_module\nelse:\n    {}",
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

    def __init__(
        self, draw: Callable[..., Any], number: int, names: list[str], aliases: list[str], any_form: bool
    ) -> None:
        self.draw, self.own, self.aliases, self.any_form = draw, names, aliases, any_form
        self.package = draw(st.sampled_from(["", "pkg.", "pkg.sub."]))
        self.dotted = f"{self.package}m{number}"
        self.text = draw(st.sampled_from(STARTS)) + "from typing import TYPE_CHECKING, Any\n"
        self.names: dict[str, bool] = {}

    def one_of(self, options: list[Any]) -> Any:
        return self.draw(st.sampled_from(options))

    def imported(self, other: "Module") -> tuple[str, dict[str, bool]]:
        """An import statement for some names of another module, and the names it binds."""
        chosen = self.draw(
            st.lists(
                st.sampled_from(sorted(filter(str.isidentifier, other.names))),
                min_size=1,
                max_size=3,
                unique=True,
            )
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

    def imported_module(self, other: "Module") -> tuple[str, dict[str, bool]]:
        """The import of a module as such, or of all its names, and what it makes reachable."""
        alias = self.one_of([f"module{self.dotted[-1]}", *self.aliases])
        package, _, last = other.dotted.rpartition(".")
        forms = {
            f"import {other.dotted}": f"{other.dotted}.",
            f"import {other.dotted} as {alias}": f"{alias}.",
            f"from {other.dotted} import *": "",
        }
        if package:
            forms |= {
                f"from {package} import {last} as {alias}": f"{alias}.",
                f"from {package} import (\n    {last},\n)": f"{last}.",
            }
        if package and self.package == other.package:
            forms |= {f"from . import {last}": f"{last}."}
        statement = self.one_of(list(forms))
        names = {name: is_function for name, is_function in other.names.items() if name.isidentifier()}
        return statement, {f"{forms[statement]}{name}": names[name] for name in names}

    def value(self, names: dict[str, bool]) -> str:
        name = self.one_of([*sorted(names), "7"])
        return f"{name}(x)" if names.get(name) else name

    def write(self, before: list["Module"]) -> None:
        for other in before:
            if self.draw(st.booleans()):
                is_module = self.any_form and self.draw(st.booleans())
                statement, bound = self.imported_module(other) if is_module else self.imported(other)
                around = self.one_of(AROUND) if self.any_form else "{}"
                self.text += around.format(
                    indent(statement, "    ").lstrip() if around != "{}" else statement
                )
                self.text += "\n"
                self.names |= bound
        for name in self.draw(st.lists(st.sampled_from(self.own), min_size=1, max_size=4)):
            form = self.one_of(CONSTANTS + FUNCTIONS)
            statement, bound = self.imported(self.one_of(before)) if before else ("pass", {})
            if before and self.any_form and self.draw(st.booleans()):
                module = self.imported_module(self.one_of(before))
                statement, bound = (statement, bound) if "*" in module[0] else module
            uses_it = "{inside}" in form
            value = self.value(self.names | bound if uses_it else self.names)
            inside = indent(statement, "    ").lstrip()
            self.text += form.format(name=name, number=self.one_of([0, 5]), value=value, inside=inside) + "\n"
            self.names[name] = form in FUNCTIONS


@st.composite
def programs(draw: Callable[..., Any], few_names: bool, any_form: bool = False) -> Files:
    """The files of a program; with few names, modules and functions often bind the same ones.

    In any form, modules are imported as such, in circles, on conditions and with all their names, and
    packages have code of their own.
    """
    modules: list[Module] = []
    for number in range(draw(st.integers(2, 4))):
        names = [f"{letter}{number}" for letter in "abcd"]
        aliases = [f"alias{number}", f"other{number}"]
        if few_names:
            names = draw(st.sampled_from([names, ["a", "b", "max"]]))
            aliases = ["a", "b", "max", "a0", "b0", "c0", "d0"]
        module = Module(draw, number, names, aliases, any_form)
        module.write(modules)
        modules.append(module)
    last, first = modules[-1], modules[0]
    answers = [f"{name}(obs)" if is_function else name for name, is_function in last.names.items()]
    files = {}
    if any_form and draw(st.booleans()):  # a circle, to be followed when the agent moves
        first.text += f"def back(x):\n    import {last.dotted} as end\n    return [end.__name__, __name__]\n"
        last.text += f"from {first.dotted} import back\n"
        answers.append("back(obs)")
    if any_form and draw(st.booleans()):
        same = f"from .{first.dotted.partition('.')[2]} import *\n" if first.package else ""
        files["pkg/__init__.py"] = f"{same}__all__ = ['own']\nown = 8\n"
        last.text += "import pkg as package_itself\nfrom pkg import *\n"
        answers += ["own", "package_itself.own", "sorted(package_itself.__all__)"]
    last.text += f"def agent(obs, config):\n    return [{', '.join(answers)}]\n"
    return files | {module.dotted.replace(".", "/") + ".py": module.text for module in modules}


def outcome(load: Callable[[], Any]) -> Any:
    """What the agent answers to two observations, or the type of the error."""
    try:
        agent = load()
        answers = [*agent(1, None), *agent(2, None)]
    except Exception as error:
        return type(error)
    return [answer.__name__ if isinstance(answer, ModuleType) else answer for answer in answers]


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


def check(files: Files) -> None:
    """Compares program and bundle."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", True)
        for name, text in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        entry = list(files)[-1]
        text = assemble(Path(folder, entry), [Path(folder)]).text
        expected = package_outcome(folder, entry)
        found = outcome(lambda: last_callable(text))
        layout = "kept apart" if "MODULES.add" in text else "in one namespace"
        event(f"{layout}: {'answers' if isinstance(expected, list) else expected.__name__}")
        assert found == expected, text


@given(programs(few_names=False))
@settings(max_examples=50, deadline=None)
def test_programs_whose_names_differ(files: Files) -> None:
    check(files)


@given(programs(few_names=True))
@settings(max_examples=100, deadline=None)
def test_programs_whose_names_collide(files: Files) -> None:
    check(files)


@given(st.booleans().flatmap(lambda few_names: programs(few_names, any_form=True)))
@settings(max_examples=150, deadline=None)
def test_programs_with_every_form_of_import(files: Files) -> None:
    check(files)


@pytest.mark.slow
@given(st.tuples(st.booleans(), st.booleans()).flatmap(lambda kind: programs(*kind)))
@settings(max_examples=5000, deadline=None)
def test_many_programs(files: Files) -> None:
    check(files)
