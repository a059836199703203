"""The agent of a notebook or script as a module: a function with all it needs, each thing in its own words.

What the function reads is followed from name to name: modules and what was imported from them become import
statements, functions and classes come as their source text, values as they are now, arrays as data. What has
no such form is refused by name.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import io
import linecache
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from submission.source import BundleError, Function, Source

Agent = Callable[..., Any]
LABEL = "notebook"
NOTEBOOK_ONLY = {"display", "get_ipython"}  # among the built-ins, but of a notebook alone
READ_ARRAY = """\
import io as _kit_io
import numpy as _kit_numpy
from engine.resources import data as _kit_data


"""


def agent_source(agent: Agent, folder: Path) -> Source:
    """The module of an agent defined in a notebook or script, which reads data in `folder`.

    Raises `BundleError` for what it needs and cannot be written down.
    """
    if not isinstance(agent, FunctionType):
        what = f"{getattr(agent, '__name__', type(agent).__name__)!r} is no plain function"
        raise BundleError(f"{LABEL}:1: {what}; write `def agent(obs, config)` and bundle that")
    collector = _Collector(agent)
    text = collector.text()
    return Source(folder / f"<{LABEL}>", LABEL, LABEL, text, files=collector.arrays)


class _Collector:
    """Follows the names that a function reads."""

    def __init__(self, agent: FunctionType) -> None:
        self.agent = agent
        self.space = agent.__globals__
        self.imports: set[str] = set()
        self.values: dict[str, str] = {}
        self.definitions: dict[str, Source] = {}
        self.arrays: dict[str, bytes] = {}
        self._known: set[str] = set()
        self._mutable: dict[int, str] = {}  # the names of values that can change
        self._postponed = False

    def text(self) -> str:
        """The module, which ends with `agent`."""
        name = self.agent.__name__
        if self.space.get(name) is not self.agent and not hasattr(self.space.get(name), "__wrapped__"):
            raise self.refusal(name, "this name stands for something else now", "run its cell again")
        self._follow(name)
        order: dict[str, None] = {}
        self._place_all(name, order)
        order.pop(name)
        parts = [self.definitions[part].text for part in [*order, name]]
        start = "from __future__ import annotations\n\n" if self._postponed else ""
        start += "".join(f"{line}\n" for line in sorted(self.imports))
        if self.arrays:
            start += READ_ARRAY
        start += "".join(f"{name} = {value}\n" for name, value in self.values.items())
        end = "" if name == "agent" else f"\n\nagent = {name}\n"
        return start + "\n\n" + "\n\n".join(parts) + end

    def refusal(self, name: str, what: str, remedy: str) -> BundleError:
        """The error for a name."""
        return BundleError(f"{LABEL}:1: `{name}`: {what}; {remedy}")

    # What a name stands for

    def _follow(self, name: str, attributes: Iterable[str] = ()) -> None:
        if name in self.space:
            value = self.space[name]
            if isinstance(value, ModuleType):
                self._import_module(name, value, attributes)
            if name not in self._known:
                self._known.add(name)
                if not isinstance(value, ModuleType):
                    self._write(name, value)
        elif not hasattr(builtins, name) or name in NOTEBOOK_ONLY:
            raise self.refusal(
                name, "nothing of this name is there", "run the cell that defines it, or do without"
            )

    def _import_module(self, name: str, module: ModuleType, attributes: Iterable[str]) -> None:
        full = module.__name__
        if sys.modules.get(full) is not module:
            raise self.refusal(name, "this module cannot be imported by its name", "import it with `import`")
        self.imports.add(f"import {full}" if full == name else f"import {full} as {name}")
        if full == name:
            self.imports |= {
                f"import {full}.{part}" for part in attributes if f"{full}.{part}" in sys.modules
            }

    def _write(self, name: str, value: Any) -> None:
        """Notes how a name is bound in the module."""
        if isinstance(value, type) and value.__module__ == self.space.get("__name__"):
            self._define(name, value.__name__, self._class_source(value))
            return
        function = inspect.unwrap(value) if callable(value) else value
        if isinstance(function, FunctionType) and function.__globals__ is self.space:
            self._define(name, function.__name__, self._function_source(name, function))
            return
        origin, original = getattr(value, "__module__", None), getattr(value, "__name__", None)
        home = sys.modules.get(origin) if isinstance(origin, str) else None
        if original and home and getattr(home, original, None) is value and vars(home) is not self.space:
            alias = "" if original == name else f" as {name}"
            self.imports.add(f"from {origin} import {original}{alias}")
            return
        if id(value) in self._mutable and _is_name(self._mutable[id(value)]):
            self.values[name] = self._mutable[id(value)]
            return
        self.values[name] = self._expression(name, value, name)

    def _define(self, name: str, own_name: str, source: Source) -> None:
        if name != own_name:
            remedy = f"use `{own_name}` itself"
            raise self.refusal(name, f"this is another name of the function or class `{own_name}`", remedy)
        self.definitions[name] = source
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                value = self.space.get(node.value.id)
                if isinstance(value, ModuleType) and node.value.id in source.foreign_reads:
                    self._follow(node.value.id, [node.attr])
        for read in sorted(_needs(source)):
            is_new = any(read in statement.names for statement in source.global_statements)
            if read in self.space or not is_new:
                self._follow(read)

    # Values

    def _expression(self, name: str, value: Any, place: str) -> str:
        """Code with the value of `value`, which is found at `place`: a name, or somewhere inside."""
        numpy = sys.modules.get("numpy")
        if numpy and (type(value) is numpy.ndarray or isinstance(value, numpy.generic)):
            return self._array(name, value, numpy, place)
        if type(value) in (list, dict, set, bytearray):
            if id(value) in self._mutable:
                what = f"it shares a {type(value).__name__} with `{self._mutable[id(value)]}`"
                raise self.refusal(name, what, "make a copy for each")
            self._mutable[id(value)] = place
        inner = f"{name}[...]"
        match value:
            case None | bool() | int() | str() | bytes() | bytearray() | complex() if type(value) in _PLAIN:
                return repr(value)
            case float() if type(value) is float:
                return repr(value) if value - value == 0 else f'float("{value}")'
            case range():
                return repr(value)
            case dict() if type(value) is dict:
                items = [
                    (self._expression(name, key, inner), self._expression(name, item, inner))
                    for key, item in value.items()
                ]
                return "{" + ", ".join(f"{key}: {item}" for key, item in items) + "}"
            case list() | tuple() | set() | frozenset() if type(value) in _BRACKETS:
                parts = [self._expression(name, item, inner) for item in value]
                if isinstance(value, set | frozenset):
                    parts.sort()  # the same text every time
                return _BRACKETS[type(value)](parts)
        what = f"a {type(value).__module__}.{type(value).__qualname__} cannot be written as source"
        raise self.refusal(name, what, "make it inside a function or class that the agent calls")

    def _array(self, name: str, value: Any, numpy: Any, place: str) -> str:
        if value.dtype.hasobject:
            raise self.refusal(
                name, "an array of Python objects cannot be embedded", "give it a numeric dtype"
            )
        if id(value) in self._mutable and type(value) is numpy.ndarray:
            raise self.refusal(
                name, f"it shares an array with `{self._mutable[id(value)]}`", "make a copy for each"
            )
        self._mutable[id(value)] = place
        file = f"{name}.npy" if f"{name}.npy" not in self.arrays else f"{name}-{len(self.arrays)}.npy"
        content = io.BytesIO()
        numpy.save(content, value, allow_pickle=False)
        self.arrays[file] = content.getvalue()
        scalar = "" if type(value) is numpy.ndarray else "[()]"
        return f'_kit_numpy.load(_kit_io.BytesIO(_kit_data("{file}"))){scalar}'

    # Source text

    def _function_source(self, name: str, function: FunctionType) -> Source:
        if function.__closure__:
            kept = ", ".join(function.__code__.co_freevars)
            what = f"this function keeps {kept} of the function around it"
            raise self.refusal(name, what, "define it at the top level, and pass what it needs")
        if function.__name__ == "<lambda>":
            raise self.refusal(
                name, "the text of a lambda cannot be told from its surroundings", "write it with `def`"
            )
        code = function.__code__
        lines = linecache.getlines(code.co_filename, self.space)
        for node in _definitions(lines):
            if (
                isinstance(node, Function)
                and node.name == function.__name__
                and _first(node) == code.co_firstlineno
            ):
                source = self._cut(name, lines, node)
                self._check_code(name, function, source, "".join(lines))
                return source
        raise self.refusal(
            name, "its source text is not to be found", "run its cell again, or put it into a file"
        )

    def _check_code(self, name: str, function: FunctionType, source: Source, cell: str) -> None:
        """Refuses source text that has changed since the function was made, and changed defaults."""
        flag = annotations.compiler_flag & function.__code__.co_flags
        self._postponed |= bool(flag)
        # A script is compiled as a whole, a notebook statement by statement, and not to the same code.
        modules = [compile(text, LABEL, "exec", flag, dont_inherit=True) for text in (source.text, cell)]
        if not any(_same(code, function.__code__) for module in modules for code in _codes(module)):
            raise self.refusal(name, "its source text has changed since it ran", "run its cell again")
        node = source.tree.body[0]
        assert isinstance(node, Function)
        for default in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
            for part in ast.walk(default):
                if isinstance(part, ast.Call) or (
                    isinstance(part, ast.Name) and self._may_differ(part.id, function)
                ):
                    what = f"its default {ast.unparse(default)} was computed when it was made"
                    raise self.refusal(name, what, "compute it in the function, or write the value out")

    def _may_differ(self, name: str, function: FunctionType) -> bool:
        """Whether a name in a default has another value than when the function was made."""
        held = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        return not any(self.space.get(name) is value for value in held)

    def _class_source(self, value: type) -> Source:
        name = value.__name__
        methods = [inspect.unwrap(part) for part in vars(value).values() if callable(part)]
        files = [part.__code__.co_filename for part in methods if isinstance(part, FunctionType)]
        files += [self.agent.__code__.co_filename, *reversed(linecache.cache)]
        for file in dict.fromkeys(files):
            lines = linecache.getlines(file, self.space) if not file.startswith("<frozen") else []
            for node in reversed(_definitions(lines) if name in "".join(lines) else []):
                if isinstance(node, ast.ClassDef) and node.name == name:
                    return self._cut(name, lines, node)
        raise self.refusal(
            name, "its source text is not to be found", "run its cell again, or put it into a file"
        )

    def _cut(self, name: str, lines: list[str], node: Function | ast.ClassDef) -> Source:
        if node.col_offset:
            raise self.refusal(name, "it is defined below another statement", "define it at the top level")
        text = "".join(lines[_first(node) - 1 : node.end_lineno])
        return Source(Path(LABEL), LABEL, LABEL, text.rstrip("\n") + "\n")

    # Order

    def _place(self, name: str, order: dict[str, None], started: set[str]) -> None:
        """Puts a definition behind those that run as it is made."""
        if name in order or name in started:
            return
        started.add(name)
        for read in sorted(_needs_at_once(self.definitions[name]) & self.definitions.keys()):
            self._place_all(read, order, started)
        order[name] = None

    def _place_all(self, name: str, order: dict[str, None], started: set[str] | None = None) -> None:
        """Puts a definition and all it reaches in order."""
        started = set() if started is None else started
        reached = [name]
        for known in reached:
            following = sorted(_needs(self.definitions[known]) & self.definitions.keys())
            reached += [read for read in following if read not in reached]
        for part in reversed(reached):
            self._place(part, order, started)


_PLAIN = (type(None), bool, int, str, bytes, bytearray, complex)
_BRACKETS: Mapping[type, Callable[[list[str]], str]] = {
    list: lambda parts: f"[{', '.join(parts)}]",
    tuple: lambda parts: f"({', '.join(parts)}{',' if len(parts) == 1 else ''})",
    set: lambda parts: f"{{{', '.join(parts)}}}" if parts else "set()",
    frozenset: lambda parts: f"frozenset(({', '.join(parts)}{',' if len(parts) == 1 else ''}))",
}


def _is_name(text: str) -> bool:
    return text.isidentifier()


def _definitions(lines: list[str]) -> list[Function | ast.ClassDef]:
    """The functions and classes in a text, none if it is no Python."""
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return []
    return [node for node in ast.walk(tree) if isinstance(node, Function | ast.ClassDef)]


def _first(node: Function | ast.ClassDef) -> int:
    return min([node.lineno, *(part.lineno for part in node.decorator_list)])


def _codes(code: CodeType) -> list[CodeType]:
    """The code of what a module defines at its top level."""
    return [part for part in code.co_consts if isinstance(part, CodeType)]


def _same(one: CodeType, other: CodeType) -> bool:
    """Whether two pieces of code do the same."""
    if (one.co_code, one.co_names, one.co_varnames) != (other.co_code, other.co_names, other.co_varnames):
        return False
    if len(one.co_consts) != len(other.co_consts):
        return False
    return all(
        _same(mine, theirs)
        if isinstance(mine, CodeType) and isinstance(theirs, CodeType)
        else repr(mine) == repr(theirs)
        for mine, theirs in zip(one.co_consts, other.co_consts, strict=True)
    )


def _needs(source: Source) -> set[str]:
    """The names of the module that a definition reads or binds, its own aside."""
    rebound = {name for statement in source.global_statements for name in statement.names}
    return source.foreign_reads | rebound


def _needs_at_once(source: Source) -> set[str]:
    """The names that are read as a definition is made: those of a class body may run anything."""
    node = source.tree.body[0]
    if isinstance(node, ast.ClassDef):
        return _needs(source)
    assert isinstance(node, Function)
    parts = [*node.decorator_list, node.args, *filter(None, [node.returns])]
    return {part.id for top in parts for part in ast.walk(top) if isinstance(part, ast.Name)}
