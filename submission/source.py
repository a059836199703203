"""One module as the bundler sees it: what it imports, binds and reads, and the edits that flatten it.

Nothing here knows of other modules. `ast` tells what the text means and `symtable` which names are
global; the text itself is changed line by line, so that comments and line numbers stay.
"""

from __future__ import annotations

import ast
import re
import symtable
import tokenize
import warnings
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, NoReturn

from evaluation.errors import InputError

Function = ast.FunctionDef | ast.AsyncFunctionDef
ImportStatement = ast.Import | ast.ImportFrom
Guard = Literal["", "block", "try", "typing"]

# Names that no file has which Kaggle runs, or with which a program reaches code that the bundler cannot see.
UNUSABLE_NAMES = {
    "__file__": 'Kaggle runs the file without it: read data with `engine.resources.data("name")`',
    **dict.fromkeys(
        ("__spec__", "__loader__", "__path__", "__cached__"), "one file has no such name: write the value out"
    ),
    "__import__": "the bundler follows import statements only: write one",
    "exec": "the bundler cannot see what it runs: write the code out",
    "eval": "the bundler cannot see what it runs: write the code out",
}
# Names that every module has for itself.
OWN_NAMES = {"__name__", "__package__", "__doc__", "__all__", "__annotations__", "globals"}
# Built-ins that show the namespace where they stand at module level.
NAMESPACE_READERS = {"locals", "vars", "dir"}
# Attributes that tell what module a thing comes from.
ORIGIN_ATTRIBUTES = {"__module__", "__globals__"}
# What a dataclass treats unlike other annotations. Given as a string, it is looked up by way of
# sys.modules, where no bundle is; so it would become a field.
FIELD_MARKERS = {"ClassVar", "InitVar", "KW_ONLY"}
# What reads annotations, whose values `from __future__ import annotations` changes.
ANNOTATION_READERS = {"__annotations__", "annotation", "fields", "get_annotations", "get_type_hints"}

TYPE_CHECKING = ("typing", "TYPE_CHECKING")
HEADING = re.compile(r"# ==== (?P<label>.+): line N here is line N - (?P<offset>\d+) there ====")


class BundleError(InputError):
    """A program that does not fit into one file; the message is `file:line: what; remedy`."""


class NotFlatError(BundleError):
    """A program that would be another one in a single namespace; the message is `file:line: what`."""


@dataclass(frozen=True)
class Site:
    """An import statement and where it stands.

    Attributes:
        scopes: the functions and classes around it, outermost first.
        guard: "typing" below `if TYPE_CHECKING`, where nothing runs; else "try" or "block" (if, for,
            with ...) for what is around it within its function or module; else "".
    """

    node: ImportStatement
    scopes: tuple[Function | ast.ClassDef, ...]
    guard: Guard


@dataclass(frozen=True)
class Binding:
    """Where a name is bound: `alias` if by an import statement, `runs` unless below `if TYPE_CHECKING`."""

    name: str
    node: ast.AST
    alias: ast.alias | None = None
    runs: bool = True


@dataclass(eq=False)
class Source:
    """A module: its text and what follows from that.

    Attributes:
        path: its file.
        label: how errors and headings name the file: its path below the root it was found in.
        name: the dotted name it is imported by.
        text: the text of the file, constants replaced.
        edits: the code in the place of each import statement that has to go, "" for none.
        files: data that it reads and that is in no file.
    """

    path: Path
    label: str
    name: str
    text: str
    edits: dict[ImportStatement, str] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def is_package(self) -> bool:
        """Whether it is the module of a package."""
        return self.path.name == "__init__.py"

    @property
    def package(self) -> str:
        """The dotted name that relative imports start from; empty at the root."""
        return self.name if self.is_package else self.name.rpartition(".")[0]

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree. Raises `BundleError` where the text has none."""
        return parse(self.text, self.label)

    @cached_property
    def is_empty(self) -> bool:
        """Whether the module holds text and comments only."""
        return all(map(is_text, self.tree.body))

    @cached_property
    def sites(self) -> list[Site]:
        """The import statements, in the order of the text."""
        return list(self._sites(self.tree, (), ""))

    @cached_property
    def bindings(self) -> list[Binding]:
        """What binds the module's names, in the order of the text but for `global` statements: last."""
        own = list(bindings(self.tree.body, self._typing_tests))
        return own + [Binding(name, node) for node in self.global_statements for name in node.names]

    @cached_property
    def names(self) -> set[str]:
        """The names that the module has once it has run."""
        return {binding.name for binding in self.bindings if binding.runs}

    @cached_property
    def global_statements(self) -> list[ast.Global]:
        """The `global` statements of functions and classes."""
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.Global)]

    @cached_property
    def foreign_reads(self) -> set[str]:
        """Names the module looks up among its own and does not bind: built-ins, as a rule."""
        return set(_global_reads(self._symbols)) - {binding.name for binding in self.bindings}

    @cached_property
    def annotations(self) -> list[ast.expr]:
        """The annotations of variables, parameters and results."""
        nodes = list(ast.walk(self.tree))
        found = [node.annotation for node in nodes if isinstance(node, ast.AnnAssign | ast.arg)]
        found += [node.returns for node in nodes if isinstance(node, Function)]
        return [annotation for annotation in found if annotation]

    @cached_property
    def annotation_reader(self) -> int | None:
        """The first line that may read annotations at run time."""
        for node in ast.walk(self.tree):
            names = {getattr(node, "id", None), getattr(node, "attr", None)}
            if isinstance(node, ast.ImportFrom):
                names |= {alias.name for alias in node.names}
            if not names.isdisjoint(ANNOTATION_READERS):
                return getattr(node, "lineno", 1)
        return None

    @cached_property
    def _symbols(self) -> symtable.SymbolTable:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return symtable.symtable(self.text, self.label, "exec")

    @cached_property
    def _names_of_sys(self) -> set[str]:
        statements = [site.node for site in self.sites if isinstance(site.node, ast.Import)]
        aliases = [alias for node in statements for alias in node.names if alias.name == "sys"]
        return {alias.asname or alias.name for alias in aliases}

    @cached_property
    def _typing_tests(self) -> set[str]:
        """The spellings of `typing.TYPE_CHECKING` in this module."""
        tests = set()
        for node in self.tree.body:
            for alias in node.names if isinstance(node, ImportStatement) else ():
                if isinstance(node, ast.Import) and alias.name == "typing":
                    tests.add(f"{alias.asname or alias.name}.TYPE_CHECKING")
                elif isinstance(node, ast.ImportFrom) and (node.module, alias.name) == TYPE_CHECKING:
                    tests.add(alias.asname or alias.name)
        return tests

    def local_bindings(self, function: Function) -> list[Binding]:
        """What binds names in a function's own scope, its `global` and `nonlocal` statements included."""
        arguments = [Binding(node.arg, node) for node in ast.walk(function.args) if isinstance(node, ast.arg)]
        return [*arguments, *bindings(function.body, self._typing_tests)]

    def is_quiet(self, statement: ast.stmt) -> bool:
        """Whether it makes no difference to run a first-party import before `statement`."""
        match statement:
            case ast.Import() | ast.ImportFrom():
                return True
            case ast.If(test=test, orelse=[]):
                return ast.unparse(test) in self._typing_tests
            case ast.Assign(value=value, targets=targets):
                return _is_literal(value) and all(isinstance(target, ast.Name) for target in targets)
            case ast.AnnAssign(value=value, target=ast.Name()):
                return value is None or _is_literal(value)
        return is_text(statement)

    def reads(self, name: str) -> bool:
        """Whether any code of the module reads a variable `name`."""
        return any(_reads(node, name) for node in ast.walk(self.tree))

    def first_read(self, name: str) -> int:
        """The line of the first reading of `name`."""
        return min(
            (getattr(node, "lineno", 1) for node in ast.walk(self.tree) if _reads(node, name)), default=1
        )

    def refuse(self, where: ast.AST | int, what: str, remedy: str) -> NoReturn:
        """Raises the `BundleError` for a line of this module."""
        line = where if isinstance(where, int) else getattr(where, "lineno", 1)
        raise BundleError(f"{self.label}:{line}: {what}; {remedy}")

    def keep_apart(self, where: ast.AST | int, what: str) -> NoReturn:
        """Raises the `NotFlatError` for a line of this module."""
        line = where if isinstance(where, int) else getattr(where, "lineno", 1)
        raise NotFlatError(f"{self.label}:{line}: {what}")

    def check(self) -> None:
        """Refuses what no bundle can do, whatever the other modules are."""
        for line, text in enumerate(self.text.split("\n"), 1):
            if HEADING.fullmatch(text):
                self.refuse(line, "this file is a bundle already", "bundle the module it was made from")
        for node in ast.walk(self.tree):
            match node:
                case ast.Attribute(value=ast.Name(id=name), attr="modules") if name in self._names_of_sys:
                    self.refuse(node, "`sys.modules` does not list a bundle's modules", "do without it")
        for name in sorted(self.foreign_reads & UNUSABLE_NAMES.keys()):
            self.refuse(self.first_read(name), f"`{name}` does not work in a bundle", UNUSABLE_NAMES[name])

    def check_agent(self) -> None:
        """Refuses an entry that does not bind `agent` last: Kaggle plays the last callable."""
        remedy = "end the module with `def agent(obs, config)`"
        if self.name == "__main__":
            self.refuse(1, "a module of this name runs as a script", "rename the file to main.py")
        for statement in self.global_statements:
            if "agent" in statement.names:
                self.refuse(statement, "`global agent` may bind it too early", "bind it once, at the end")
        body = [node for node in self.tree.body if not does_nothing(node) and not _is_main_guard(node)]
        first = next((number for number, node in enumerate(body) if "agent" in names_bound(node)), None)
        if first is None:
            self.refuse(self.text.count("\n") or 1, "nothing binds `agent`", remedy)
        if not (binds_agent(body[first]) or self._imports_agent(body[first])):
            self.refuse(body[first], "this may bind other names than `agent`, or none", remedy)
        if body[first + 1 :]:
            what = f"this comes after `agent` ({self.label}:{body[first].lineno})"
            what += ", and Kaggle plays the callable that is first bound last"
            self.refuse(body[first + 1], what, remedy)

    @staticmethod
    def _imports_agent(statement: ast.stmt) -> bool:
        return isinstance(statement, ast.ImportFrom) and names_bound(statement) == {"agent"}

    def check_flat(self) -> None:
        """Raises `NotFlatError` for what means something else in one namespace, whatever the others are."""
        for node in ast.walk(self.tree):
            match node:
                case ast.Attribute(attr=name) if name in ORIGIN_ATTRIBUTES:
                    self.keep_apart(node, f"`{name}` tells one module from another")
        at_module_level = {symbol.get_name() for symbol in self._symbols.get_symbols()}
        for name in sorted(self.foreign_reads & (OWN_NAMES | (NAMESPACE_READERS & at_module_level))):
            self.keep_apart(self.first_read(name), f"`{name}` is another one in each module")

    def check_apart(self) -> None:
        """Refuses what does not work in a module that `sys.modules` does not list once it has run."""
        are_strings = "annotations" in self.names
        for node in ast.walk(self.tree):
            inside = ast.walk(node) if isinstance(node, Function) else ()
            for part in inside:
                if isinstance(part, ast.ClassDef) and part.decorator_list and _has_strings(part, are_strings):
                    what = "a dataclass made in a function looks its module up, which a bundle does not list"
                    self.refuse(part, what, "move it to the top level of the module")

    def check_fields(self, are_strings: bool) -> None:
        """Keeps string annotations that a dataclass acts on; `are_strings` if all annotations will be."""
        aliases = {bound.name for bound in self.bindings if bound.alias and bound.alias.name in FIELD_MARKERS}
        for node in ast.walk(self.tree):
            if not (isinstance(node, ast.ClassDef) and node.decorator_list):
                continue
            for part in node.body:
                if isinstance(part, ast.AnnAssign) and (are_strings or _holds_string(part.annotation)):
                    text = ast.unparse(part.annotation)
                    if not FIELD_MARKERS.union(aliases).isdisjoint(re.findall(r"\w+", text)):
                        self.keep_apart(part, f"the dataclass looks {text!r} up in its module")

    def replace_import(self, site: Site, code: str) -> None:
        """Notes that `code` ("" for nothing) takes the place of an import statement."""
        node = site.node
        before, after = _around(self.text.split("\n"), node)
        follower = after.strip()[:1]
        if follower not in ("", "#", ";") or (follower == ";" and node.end_lineno != node.lineno):
            self.keep_apart(node, "this import shares its lines with other code")
        needs_code = before.strip() or follower == ";" or node not in self.tree.body
        self.edits[node] = code or ("pass" if needs_code else "")

    def flattened(self) -> str:
        """The module's text, its edits made: imports become comments, and every line keeps its number."""
        lines = self.text.rstrip("\n").split("\n")
        for node in sorted(self.edits, key=_position, reverse=True):
            _comment_out(lines, node, self.edits[node])
        return "\n".join(lines) + "\n"

    def flattened_tree(self) -> ast.Module:
        """The syntax tree that `flattened()` must have, found by way of the tree alone."""
        tree = parse(self.text, self.label)
        edits = {_position(node): code for node, code in self.edits.items()}
        for node in ast.walk(tree):
            for _, block in ast.iter_fields(node):
                if isinstance(block, list) and any(isinstance(part, ImportStatement) for part in block):
                    block[:] = [new for part in block for new in _replaced(part, edits)]
        return tree

    def _sites(
        self, node: ast.AST, scopes: tuple[Function | ast.ClassDef, ...], guard: Guard
    ) -> Iterator[Site]:
        for name, block in ast.iter_fields(node):
            inside = self._guard(node, name, guard)
            for part in block if isinstance(block, list) else ():
                if isinstance(part, ImportStatement):
                    yield Site(part, scopes, inside)
                elif isinstance(part, Function | ast.ClassDef):
                    starts_anew = isinstance(part, Function) and inside != "typing"
                    yield from self._sites(part, (*scopes, part), "" if starts_anew else inside)
                elif isinstance(part, ast.stmt | ast.ExceptHandler | ast.match_case):
                    yield from self._sites(part, scopes, inside)

    def _guard(self, node: ast.AST, name: str, guard: Guard) -> Guard:
        """The guard of the statements in field `name` of `node`, which itself stands under `guard`."""
        if guard == "typing" or isinstance(node, ast.Module | ast.ClassDef | Function):
            return guard
        if isinstance(node, ast.If) and name == "body" and ast.unparse(node.test) in self._typing_tests:
            return "typing"
        return "try" if guard == "try" or isinstance(node, ast.Try | ast.TryStar) else "block"


def bindings(
    block: Iterable[ast.AST], typing_tests: AbstractSet[str] = frozenset(), runs: bool = True
) -> Iterator[Binding]:
    """What binds names in the scope that `block` is part of, without going into the scopes inside it."""
    for node in block:
        yield from (Binding(name, node, alias, runs) for name, alias in _names_bound(node))
        if isinstance(node, ast.If) and ast.unparse(node.test) in typing_tests:
            yield from bindings(node.body, typing_tests, runs=False)
            yield from bindings(node.orelse, typing_tests, runs)
        else:
            yield from bindings(_same_scope(node), typing_tests, runs)


def _names_bound(node: ast.AST) -> list[tuple[str, ast.alias | None]]:
    """The names that a node itself binds, each with its alias if the node is an import statement."""
    match node:
        case ast.Import(names=aliases):
            return [(alias.asname or alias.name.partition(".")[0], alias) for alias in aliases]
        case ast.ImportFrom(names=aliases):
            return [(alias.asname or alias.name, alias) for alias in aliases]
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return [(name, None) for name in names]
        case (
            ast.Name(id=name, ctx=ast.Store() | ast.Del())
            | ast.FunctionDef(name=name)
            | ast.AsyncFunctionDef(name=name)
            | ast.ClassDef(name=name)
            | ast.ExceptHandler(name=str(name))
            | ast.MatchAs(name=str(name))
            | ast.MatchStar(name=str(name))
            | ast.MatchMapping(rest=str(name))
        ):
            return [(name, None)]
    return []


def _same_scope(node: ast.AST) -> Iterable[ast.AST]:
    """The parts of a node that belong to the scope it stands in."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return [*node.decorator_list, node.args, *filter(None, [node.returns])]
        case ast.ClassDef():
            return [*node.decorator_list, *node.bases, *node.keywords]
        case ast.Lambda():
            return [node.args]
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            # Its variables stay inside, but what := binds does not.
            return [part.target for part in ast.walk(node) if isinstance(part, ast.NamedExpr)]
    return ast.iter_child_nodes(node)


def parse(text: str, label: str) -> ast.Module:
    """The syntax tree of `text`. Raises `BundleError` where it is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, label)
    except (SyntaxError, ValueError) as error:
        line, what = getattr(error, "lineno", 1) or 1, getattr(error, "msg", error)
        raise BundleError(f"{label}:{line}: {what}; repair the syntax") from None


def read_text(path: Path, label: str) -> str:
    """The text of a Python file, by the encoding it declares, with line ends "\\n". Raises `BundleError`."""
    try:
        with tokenize.open(path) as file:
            return file.read()
    except OSError as error:
        raise BundleError(f"cannot read {path}: {error.strerror}; name a file that can be read") from None
    except (SyntaxError, UnicodeDecodeError) as error:
        raise BundleError(f"{label}:1: {error}; save the file as UTF-8") from None


def names_bound(statement: ast.stmt) -> set[str]:
    """The names a statement at the top level binds."""
    return {binding.name for binding in bindings([statement])}


def binds_agent(statement: ast.stmt) -> bool:
    """Whether a statement certainly binds `agent` and nothing else."""
    is_plain = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign)
    return is_plain and names_bound(statement) == {"agent"}


def does_nothing(statement: ast.stmt) -> bool:
    """Whether a statement could as well not be there."""
    return is_text(statement) or isinstance(statement, ast.Pass)


def _is_main_guard(statement: ast.stmt) -> bool:
    match statement:
        case ast.If(
            test=ast.Compare(
                left=ast.Name(id="__name__"), ops=[ast.Eq()], comparators=[ast.Constant(value="__main__")]
            ),
            orelse=[],
        ):
            return True
    return False


def is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring or another constant that does nothing."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError):
        return False
    return True


def _reads(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def _has_strings(node: ast.ClassDef, are_strings: bool) -> bool:
    """Whether a class has fields whose types are given as strings."""
    fields = [part for part in node.body if isinstance(part, ast.AnnAssign)]
    return any(are_strings or _holds_string(part.annotation) for part in fields)


def _holds_string(node: ast.expr) -> bool:
    parts = (part for part in ast.walk(node) if isinstance(part, ast.Constant))
    return any(isinstance(part.value, str) for part in parts)


def _global_reads(table: symtable.SymbolTable) -> Iterator[str]:
    for symbol in table.get_symbols():
        # A class body looks a name up in the module until it has bound the name itself.
        if symbol.is_referenced() and (symbol.is_global() or table.get_type() == "class"):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _global_reads(child)


def _position(node: ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _replaced(node: ast.AST, edits: dict[tuple[int, int], str]) -> list[ast.AST]:
    if isinstance(node, ast.stmt) and _position(node) in edits:
        return [*ast.parse("\n" * (node.lineno - 1) + edits[_position(node)]).body]
    return [node]


def _around(lines: list[str], node: ast.stmt) -> tuple[str, str]:
    """What stands before a statement on its first line and after it on its last one."""
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    before = lines[node.lineno - 1].encode()[: node.col_offset]  # ast counts columns in bytes
    after = lines[node.end_lineno - 1].encode()[node.end_col_offset :]
    return before.decode(), after.decode()


def _comment_out(lines: list[str], node: ast.stmt, code: str) -> None:
    """Puts `code` in the place of a statement, which stays as a comment if it has its lines to itself."""
    before, after = _around(lines, node)
    first, last = node.lineno - 1, node.end_lineno or node.lineno
    if after.strip().startswith(";"):
        lines[first] = before + code + after
        return
    lines[first] = before + (f"{code}  # " if code else "# ") + lines[first][len(before) :]
    indent = before[: len(before) - len(before.lstrip())]
    for number in range(first + 1, last):
        if lines[number].strip():
            lines[number] = f"{indent}# " + lines[number].removeprefix(indent)
