"""What can be said of a submission from its text alone, without running it."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

SAFE = frozenset({*sys.stdlib_module_names, "numpy"})
CONFIGS = {"config", "configuration", "conf", "cfg"}
LOADERS = {
    "open", "load", "loads", "loadtxt", "genfromtxt", "fromfile", "frombuffer", "memmap",
    "read_text", "read_bytes", "decompress", "CDLL",
}  # fmt: skip
BROAD = {"Exception", "BaseException", "OSError", "IOError", "EnvironmentError", "FileNotFoundError"}
REPORTERS = re.compile(r"print|warn|log|write|error|exception|debug|info|critical")
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
DEPTH = 100_000
"""Of nested expressions: a sum of a thousand strings is nested a thousand times."""
MAGIC = re.compile(r"^\s*(%%?\w|!\s*\w)")
SPEC = re.compile(r"^# spec: (.+)$", re.MULTILINE)


@dataclass
class Reading:
    """What `read` found.

    Attributes:
        seen: for each finding by its id, the lines that show it.
        guarded: names bound only under a main guard.
        foreign: packages imported that Kaggle may lack.
        spec: the agent spec the file says it was bundled from.
    """

    seen: dict[str, str] = field(default_factory=dict)
    guarded: set[str] = field(default_factory=set)
    foreign: set[str] = field(default_factory=set)
    spec: str | None = None


def read(source: str, siblings: Iterable[str] = ()) -> Reading:
    """The reading of a submission's text; `siblings` are the modules packed beside it."""
    header = SPEC.search(source[:4000])
    reading = Reading(spec=header.group(1).strip() if header else None)
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:  # ValueError: null bytes
        reading.seen = dict([_unreadable(source, error)])
        return reading
    except (RecursionError, MemoryError):  # nested too deeply: loading will show whether Python minds
        return reading
    visitor = _Visitor(tree, frozenset(siblings))
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(DEPTH)
    try:
        visitor.visit(tree)
    finally:
        sys.setrecursionlimit(limit)
    reading.guarded = visitor.guarded
    reading.foreign = visitor.foreign
    reading.seen = {name: _listed(lines) for name, lines in visitor.found.items()}
    return reading


def _unreadable(source: str, error: SyntaxError | ValueError) -> tuple[str, str]:
    for number, line in enumerate(source.splitlines(), 1):
        if MAGIC.match(line):
            return "notebook-magic", f"line {number}: {line.strip()[:60]}"
    if isinstance(error, SyntaxError):
        return "syntax-error", f"line {error.lineno}: {error.msg}"
    return "syntax-error", str(error)


def _listed(places: list[tuple[int, str]]) -> str:
    """The first places, in the order of the file."""
    places.sort()
    text = ", ".join(f"line {line}" + (f" ({detail})" if detail else "") for line, detail in places[:3])
    return text + (f" and {len(places) - 3} more" if len(places) > 3 else "")


class _Visitor(ast.NodeVisitor):
    """Walks the file once, keeping what surrounds each node."""

    def __init__(self, tree: ast.Module, siblings: frozenset[str]) -> None:
        self.siblings = siblings
        self.found: dict[str, list[tuple[int, str]]] = {}
        self.guarded: set[str] = set()
        self.foreign: set[str] = set()
        self.depth = 0  # of functions
        self.caught: list[set[str]] = []  # what the surrounding try statements catch
        self.imported = {root for node in tree.body for root in _roots(node)}
        self.configs = CONFIGS | {
            node.args.args[1].arg
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and node.name == "agent" and len(node.args.args) > 1
        }
        agents = [node.lineno for node in tree.body if isinstance(node, FUNCTION) and node.name == "agent"]
        if len(agents) > 1:
            self.found["appended-file"] = [(line, "") for line in agents]

    def add(self, name: str, node: ast.stmt | ast.expr | ast.ExceptHandler, detail: str = "") -> None:
        self.found.setdefault(name, []).append((node.lineno, detail))

    def catches(self, *names: str) -> bool:
        """Whether a surrounding try statement catches one of the exceptions."""
        return any({*names, "Exception", "BaseException"} & caught for caught in self.caught)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            self._stream(default)
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815
    visit_Lambda = visit_FunctionDef  # noqa: N815

    def visit_Assign(self, node: ast.Assign | ast.AnnAssign) -> None:
        if not self.depth:
            self._stream(node.value)
        self.generic_visit(node)

    visit_AnnAssign = visit_Assign  # noqa: N815

    def _stream(self, value: ast.expr | None) -> None:
        match value:
            case ast.Attribute(value=ast.Name(id="sys"), attr="stdout" | "stderr" as stream):
                self.add("kept-stream", value, f"sys.{stream}")

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.ImportFrom) and node.module == "sys" and not self.depth:
            for name in {alias.name for alias in node.names} & {"stdout", "stderr"}:
                self.add("kept-stream", node, f"sys.{name}")
        for root in _roots(node):
            if root in SAFE or self.catches("ImportError", "ModuleNotFoundError"):
                continue
            if self.depth and root not in self.imported:
                self.add("import-inside-agent", node, root)
            elif root not in self.siblings:
                self.foreign.add(root)
                self.add("foreign-package", node, root)

    visit_ImportFrom = visit_Import  # noqa: N815

    def visit_Name(self, node: ast.Name) -> None:
        if node.id == "__file__" and not self.catches("NameError"):
            self.add("dunder-file", node)

    def visit_If(self, node: ast.If) -> None:
        names = {item.id for item in ast.walk(node.test) if isinstance(item, ast.Name)}
        texts = {item.value for item in ast.walk(node.test) if isinstance(item, ast.Constant)}
        if "__file__" in texts:  # as in: if "__file__" in globals()
            self.caught.append({"NameError"})
            self.generic_visit(node)
            self.caught.pop()
            return
        if "__name__" in names and "__main__" in texts:
            self.add("main-guard", node)
            self.guarded |= {name for statement in node.body for name in _bound(statement)}
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        if any(isinstance(item, ast.Constant) and item.value == "Invalid" for item in ast.walk(node)):
            self.add("status-invalid", node)
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._setting(node, node.value, node.attr)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.slice, ast.Constant):
            self._setting(node, node.value, node.slice.value)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
            key = node.args[0]
            self._setting(node, node.func.value, key.value if isinstance(key, ast.Constant) else None)
        self.generic_visit(node)

    def _setting(self, node: ast.expr, owner: ast.expr, key: object) -> None:
        if key in ("timeout", "agentTimeout") and isinstance(owner, ast.Name) and owner.id in self.configs:
            self.add("obsolete-timeout", node, f"{owner.id}.{key}")

    def visit_Try(self, node: ast.Try) -> None:
        loads = {name for statement in node.body for name in _calls(statement)} & LOADERS
        for handler in node.handlers:
            if loads and _caught(handler) & BROAD and not _reports(handler):
                self.add("hidden-fallback", handler, f"around {', '.join(sorted(loads))}")
        self.caught.append({name for handler in node.handlers for name in _caught(handler)})
        for statement in node.body:
            self.visit(statement)
        self.caught.pop()
        for rest in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(rest)


def _roots(node: ast.AST) -> list[str]:
    """The packages an import statement names; "." for a relative one."""
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return ["." if node.level else (node.module or "").partition(".")[0]]
    return []


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Names a statement binds, whatever their scope."""
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Import() | ast.ImportFrom():
                yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)


def _calls(statement: ast.AST) -> Iterator[str]:
    """The last names of everything a statement calls: `load` of `np.load(...)`."""
    for node in ast.walk(statement):
        match node:
            case ast.Call(args=[ast.Constant(value=str(path)), *_]) if path.startswith(("/proc/", "/sys/")):
                continue  # it asks the machine, not for data
            case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
                yield name


def _caught(handler: ast.ExceptHandler) -> set[str]:
    """Names of the exceptions a handler catches; a bare `except` catches BaseException."""
    if handler.type is None:
        return {"BaseException"}
    nodes = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {node.id if isinstance(node, ast.Name) else getattr(node, "attr", "") for node in nodes}


def _reports(handler: ast.ExceptHandler) -> bool:
    """Whether a handler raises, or calls something that tells a person."""
    return any(
        isinstance(node, ast.Raise) or any(REPORTERS.search(name) for name in _calls(node))
        for statement in handler.body
        for node in ast.walk(statement)
    )
