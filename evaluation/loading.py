"""From an agent spec to a callable that plays.

perfect                       a module of agents/
n_step:N_STEPS=5              the same with a constant at its top replaced
path/to/main.py               a file, loaded as Kaggle loads a submission
kaggle:negamax                one of Kaggle's own agents
any callable                  in Python, as it is
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from evaluation.calling import Agent, submission
from evaluation.errors import InputError
from evaluation.kaggle import builtin_agent

__all__ = [
    "Agent",
    "SpecError",
    "agent_name",
    "is_file",
    "known_agents",
    "load_agent",
    "module_path",
    "parse_spec",
    "read_submission",
    "replace_constants",
]

AGENTS = Path(__file__).resolve().parent.parent / "agents"
KAGGLE = "kaggle:"


class SpecError(InputError):
    """An agent spec that names no agent, or constants it does not have."""


def load_agent(spec: str | Agent) -> Agent:
    """The agent a spec stands for, fresh: each call runs the module anew, so no two share any state.

    A callable is returned as it is, with whatever state it keeps. A file is read now and run on its
    first move, as Kaggle does, so that loading counts towards that move's time. Raises `SpecError`.
    """
    if not isinstance(spec, str):
        return spec
    target, constants = parse_spec(spec)
    if target.startswith(KAGGLE):
        if constants:
            raise SpecError(f"{spec}: Kaggle's own agents have no constants to replace")
        return builtin_agent(target.removeprefix(KAGGLE))
    if is_file(target):
        return submission(*read_submission(spec))
    return _module_agent(spec, target)


def read_submission(spec: str) -> tuple[str, str]:
    """The source of a file's spec, its constants replaced, and the absolute path. Raises `SpecError`."""
    target, constants = parse_spec(spec)
    path = Path(target).absolute()
    return replace_constants(_read(path), constants, str(path)), str(path)


def agent_name(spec: str | Agent) -> str:
    """What reports call an agent: its spec; the module of a callable named `agent`; else its own name."""
    if isinstance(spec, str):
        return spec
    name = getattr(spec, "__name__", type(spec).__name__)
    module = getattr(spec, "__module__", None)
    return module.rpartition(".")[2] if name == "agent" and module not in (None, "__main__") else name


def parse_spec(spec: str) -> tuple[str, dict[str, Any]]:
    """What a spec names, and the constants it replaces: `("n_step", {"N_STEPS": 5})` of `n_step:N_STEPS=5`.

    Values are Python literals; a bare word is a string (`PRESET=video`). Raises `SpecError`.
    """
    match = re.fullmatch(r"(.+?):(\s*\w+\s*=.*)", spec, re.DOTALL)
    target, text = match.groups() if match else (spec, "")
    if not (match or target.startswith(KAGGLE) or is_file(target) or target.isidentifier()):
        raise SpecError(
            f"{spec!r} is no agent: write NAME, NAME:CONSTANT=VALUE, path/to/main.py or kaggle:NAME"
        )
    constants: dict[str, Any] = {}
    for argument in _keywords(spec, text) if text else ():
        if argument.arg is None or argument.arg in constants:
            raise SpecError(f"{spec}: each constant is given once, as CONSTANT=VALUE")
        constants[argument.arg] = _value(argument.value, spec, argument.arg)
    return target, constants


def is_file(target: str) -> bool:
    """Whether a spec's target is the path of a file, rather than the name of a module."""
    return target.endswith(".py") or "/" in target or "\\" in target


def known_agents() -> list[str]:
    """Names of the modules of agents/, in alphabetical order."""
    return sorted(path.stem for path in AGENTS.glob("*.py") if not path.stem.startswith("_"))


def module_path(name: str) -> Path:
    """The file of the module `name` of agents/. Raises `SpecError` listing what there is."""
    path = AGENTS / f"{name}.py"
    if not name.isidentifier() or name.startswith("_") or not path.is_file():
        raise SpecError(
            f"there is no agent {name!r}: choose one of {_listed(known_agents())}, "
            "kaggle:negamax, kaggle:random, or a file: path/to/main.py"
        )
    return path


def replace_constants(source: str, constants: Mapping[str, object], filename: str) -> str:
    """`source` with the values of upper-case constants at its top level replaced, everything else kept.

    A constant is a public `NAME = literal` (or `NAME: type = literal`); its new value has the type of the
    old one. Lines keep their numbers. Raises `SpecError` naming the constants there are.
    """
    if not constants:
        return source
    try:
        literals = _literals(source)
    except SyntaxError as error:
        raise SpecError(f"{filename}, line {error.lineno}: {error.msg}") from None
    for name in constants:
        if name not in literals:
            raise SpecError(f"{filename} has no constant {name}: it has {_listed(literals)}")
    text = source.encode()  # ast counts columns in bytes
    starts = [0, *accumulate(map(len, text.splitlines(keepends=True)))]
    edits = []
    for name, value in constants.items():
        node = literals[name]
        _check_type(name, ast.literal_eval(node), value, filename)
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        lines = node.end_lineno - node.lineno
        edits.append((start, end, f"({value!r}" + "\n" * lines + ")" if lines else repr(value)))
    for start, end, new in sorted(edits, reverse=True):  # from the end, so that places stay where they are
        text = text[:start] + new.encode() + text[end:]
    return text.decode()


def _literals(source: str) -> dict[str, ast.expr]:
    """The value's node of every public upper-case constant, in the order of the source."""
    found = {}
    for statement in ast.parse(source).body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.expr() as value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ) if name.isupper() and not name.startswith("_") and _is_literal(value):
                found[name] = value
    return found


def _keywords(spec: str, text: str) -> list[ast.keyword]:
    """`text`, read as the keyword arguments of a call."""
    try:
        tree = ast.parse(f"_({text})", mode="eval").body
    except SyntaxError:
        tree = None
    match tree:
        case ast.Call(func=ast.Name(), args=[]):
            return tree.keywords
    raise SpecError(f"{spec}: {text!r} cannot be read: write CONSTANT=VALUE,CONSTANT=VALUE")


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def _value(node: ast.expr, spec: str, name: str) -> Any:
    """The value given to constant `name`: a literal, or a bare word as a string."""
    if isinstance(node, ast.Name):
        return node.id
    try:
        return ast.literal_eval(node)
    except ValueError:
        text = ast.unparse(node)
        raise SpecError(
            f"{spec}: the value {text} of {name} is no number or name: put text in quotes"
        ) from None


def _check_type(name: str, old: object, new: object, filename: str) -> None:
    """Raises `SpecError` unless `new` is of the type of `old`; an int may take the place of a float."""
    if old is None or type(new) is type(old) or (type(old) is float and type(new) is int):
        return
    raise SpecError(
        f"{filename}: {name} is {old!r}, so its value must be of type {type(old).__name__}, not {new!r}"
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise SpecError(f"cannot read the agent's file {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise SpecError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from None


def _module_agent(spec: str, name: str) -> Agent:
    """The function `agent` of a new copy of the module `name` of agents/."""
    path = module_path(name)
    code = _module_code(spec, path, path.stat().st_mtime_ns)
    module = ModuleType(f"agents.{name}")
    module.__file__ = str(path)
    # While it runs, dataclasses and pickle look for the module by its name.
    imported = sys.modules.get(module.__name__)
    sys.modules[module.__name__] = module
    try:
        exec(code, module.__dict__)
    finally:
        del sys.modules[module.__name__]
        if imported:
            sys.modules[module.__name__] = imported
    agent: Agent | None = module.__dict__.get("agent")
    if agent is None:
        raise SpecError(f"{path} defines no function agent(obs, config)")
    return agent


@lru_cache(maxsize=64)
def _module_code(spec: str, path: Path, _modified: int) -> CodeType:
    """The compiled module, its constants replaced; kept until the file is modified."""
    return compile(replace_constants(_read(path), parse_spec(spec)[1], str(path)), str(path), "exec")
