"""The modules of a program: where they are, their order, and whether they go into one namespace."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from submission.embedding import COMPILED_CORE, EMBEDDED_CORE, LABEL, RESOURCES, Files, reader
from submission.source import Binding, ImportStatement, Site, Source, read_text

ALLOWED = sys.stdlib_module_names | {"numpy"}
# Modules that import by name, which cannot be followed.
DYNAMIC_IMPORTERS = {"builtins", "importlib", "imp", "pkgutil", "runpy", "zipimport"}


class Finder:
    """Finds the modules of a program.

    Attributes:
        roots: the folders that modules are looked up in, first root first.
    """

    def __init__(self, roots: Sequence[Path]) -> None:
        self.roots = list(dict.fromkeys(roots))

    def label(self, path: Path) -> str:
        """How messages name a file: its path below the root it is in."""
        if path == RESOURCES:
            return LABEL
        inside = (path.relative_to(root) for root in self.roots if path.is_relative_to(root))
        return next(inside, Path(path.name)).as_posix()

    def find(self, name: str) -> Path | None:
        """The file of the first-party module `name`."""
        for root in self.roots:
            base = root.joinpath(*name.split("."))
            for path in (base / "__init__.py", base.with_name(f"{base.name}.py")):
                if path.is_file():
                    return EMBEDDED_CORE if path == COMPILED_CORE else path
        return None

    def is_folder(self, name: str) -> bool:
        """Whether there is a folder for the package `name`."""
        return any(root.joinpath(*name.split(".")).is_dir() for root in self.roots)

    def load(self, path: Path, name: str) -> Source:
        """The module `name` in a file; the one with `data` has no files yet."""
        label = self.label(path)
        return Source(path, label, name, reader({}) if path == RESOURCES else read_text(path, label))

    def is_ours(self, source: Source, node: ImportStatement, name: str) -> bool:
        """Whether `name` belongs to a first-party module or package. Refuses a name with two meanings."""
        top = name.partition(".")[0]
        path = self.find(top)
        if path and top in ALLOWED:
            what = f"`{top}` is {self.label(path)} here, and a known library too"
            source.refuse(node, what, "rename the file")
        if top in ALLOWED:
            return False
        places = [root for root in self.roots if (root / top).is_dir() or (root / f"{top}.py").is_file()]
        if len(places) > 1:
            what = f"`{top}` is in {places[1]} and in {places[0]}, too"
            source.refuse(node, what, "rename one of the two")
        return bool(places)

    def absolute(self, source: Source, node: ast.ImportFrom) -> str:
        """The dotted name of the module that names are imported from."""
        if not node.level:
            return node.module or ""
        parts = source.package.split(".") if source.package else []
        if node.level > len(parts):
            source.refuse(
                node,
                "this relative import leaves the folder that modules are looked up in",
                "write the module's full name",
            )
        parents = parts[: len(parts) - node.level + 1]
        return ".".join([*parents, node.module] if node.module else parents)


class Program(Finder):
    """A program in one namespace: its modules, found by following imports, depth first as Python does.

    Attributes:
        sources: the modules in the order in which they run; the entry is the last.
        futures: the features their `from __future__` statements name.
        files: the data that they read with `engine.resources`, whose place a module with that data takes.
    """

    def __init__(self, roots: Sequence[Path]) -> None:
        super().__init__(roots)
        self.sources: list[Source] = []
        self.futures: set[str] = set()
        self.files = Files()
        self._known: dict[Path, Source] = {}
        self._running: list[Source] = []
        self._targets: dict[ast.ImportFrom, Source] = {}  # of first-party import statements

    @property
    def entry(self) -> Source:
        """The module that the program starts from."""
        return self.sources[-1]

    def add_entry(self, entry: Source) -> None:
        """Adds a module and, before it, all that it imports. Raises `NotFlatError`, `BundleError`."""
        self._known[entry.path] = entry
        self._add(entry)
        self._embed()

    def _embed(self) -> None:
        """Puts the files that the modules read into the module that has `data`."""
        for source in self.sources:
            spellings = {
                alias.asname or alias.name
                for node, target in self._targets.items()
                for alias in node.names
                if node in source.edits and self._origin(target, alias.name) == f"{LABEL}:data"
            }
            self.files.add(source, spellings)
        for number, source in enumerate(self.sources):
            if source.path == RESOURCES:
                text = reader(self.files.contents)
                self.sources[number] = Source(source.path, source.label, source.name, text)

    def _add(self, source: Source) -> None:
        self._running.append(source)
        source.check()
        source.check_flat()
        for site in source.sites:
            self._follow(source, site)
        self._running.pop()
        self.sources.append(source)

    def _follow(self, source: Source, site: Site) -> None:
        """Decides what becomes of an import statement, and adds the module it imports if that is ours."""
        node = site.node
        modules = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        is_relative = isinstance(node, ast.ImportFrom) and node.level > 0
        ours = [name for name in modules if is_relative or self.is_ours(source, node, name)]
        if site.guard == "typing":
            if ours or not all(map(is_allowed, modules)):
                source.replace_import(site, "")
        elif any(alias.name == "*" for alias in node.names):
            source.keep_apart(node, "a star import hides what it binds")
        elif isinstance(node, ast.Import):
            if ours:
                source.keep_apart(node, f"`{ours[0]}` is imported as a module")
            check_foreign(source, node, modules)
        elif ours:
            self._flatten_import(source, site, node)
        elif node.module == "__future__":
            self.futures |= {alias.name for alias in node.names}
            source.replace_import(site, _aliases(node))
        else:
            check_foreign(source, node, [f"{node.module}.{alias.name}" for alias in node.names])

    def _flatten_import(self, source: Source, site: Site, node: ast.ImportFrom) -> None:
        """Adds the module that a statement imports from and replaces the statement."""
        _check_place(source, site)
        name = self.absolute(source, node)
        target = self._module(source, node, name)
        for alias in node.names:
            if target in (None, source) or alias.name not in target.names:
                source.keep_apart(node, f"`{name}` does not bind `{alias.name}` itself")
            self._check_locals(source, site, node, alias)
        parts = name.split(".")
        for size in range(1, len(parts)):  # Python runs the packages around a module before it
            package = self._module(source, node, ".".join(parts[:size]))
            if package and package not in self._running:
                self._run(source, node, package)
        if target:
            self._run(source, node, target)
            self._targets[node] = target
        source.replace_import(site, _aliases(node))

    def _module(self, importer: Source, node: ast.ImportFrom, name: str) -> Source | None:
        """The module `name`; None for a package without a file of its own."""
        path = self.find(name)
        if path is None:
            if not self.is_folder(name):
                importer.keep_apart(node, f"there is no module `{name}`")
            return None
        if path not in self._known:
            self._known[path] = self.load(path, name)
        source = self._known[path]
        if source.name != name:
            importer.keep_apart(node, f"{source.label} is imported as `{name}` and as `{source.name}`")
        return source

    def _run(self, importer: Source, node: ast.ImportFrom, source: Source) -> None:
        """Adds a module where its first import stands."""
        if source in self._running:
            chain = [module.label for module in self._running[self._running.index(source) :]]
            importer.keep_apart(node, f"a cycle of imports: {' -> '.join([*chain, source.label])}")
        if source not in self.sources:
            self._add(source)

    def _check_locals(self, source: Source, site: Site, node: ast.ImportFrom, alias: ast.alias) -> None:
        """Keeps the modules apart for an import in a function that cannot do without its local name.

        In one namespace the name is the module's: so no function around the import may bind it otherwise.
        """
        for function in site.scopes:
            if isinstance(function, ast.ClassDef):
                if alias.name.startswith("__"):  # names of this form are other ones inside a class
                    source.keep_apart(node, f"`{alias.name}` is imported inside a class")
                continue
            for binding in source.local_bindings(function):
                if binding.name not in (alias.name, alias.asname):
                    continue
                is_declared = isinstance(binding.node, ast.Global | ast.Nonlocal)
                if is_declared or (binding.name == alias.name and not self._is_import(source, binding, node)):
                    what = f"`{binding.name}` is imported in a function that binds it elsewhere, too"
                    source.keep_apart(binding.node, what)

    def _is_import(self, source: Source, binding: Binding, node: ast.ImportFrom) -> bool:
        """Whether a local binding is an import, by its own name, from the module that `node` imports from."""
        return (
            isinstance(binding.node, ast.ImportFrom)
            and binding.alias is not None
            and binding.alias.name == binding.name
            and self.absolute(source, binding.node) == self.absolute(source, node)
        )

    def check(self) -> None:
        """Raises `NotFlatError` if the modules do not go together in one namespace."""
        bound: dict[str, tuple[Source, Binding]] = {}
        for source in self.sources:
            for binding in source.bindings:
                if binding.runs:
                    other, first = bound.setdefault(binding.name, (source, binding))
                    self._check_same(source, binding, other, first)
        are_strings = "annotations" in self.futures
        for source in self.sources:
            for name in sorted(source.foreign_reads & bound.keys()):
                _check_hidden(source, *bound[name])
            for statement in source.global_statements:
                self._check_unshared(source, statement)
            source.check_fields(are_strings)
            if are_strings:
                self._check_annotations(source)

    def _check_same(self, source: Source, binding: Binding, other: Source, first: Binding) -> None:
        """Keeps apart modules with a name that stands for different things in two modules."""
        name = binding.name
        if other is source or (name == "__all__" and not any(module.reads(name) for module in self.sources)):
            return
        if self._origin(source, name) != self._origin(other, name):
            own = next(
                (bound for bound in source.bindings if bound.name == name and not bound.alias), binding
            )
            place = f"{other.label}:{getattr(first.node, 'lineno', 1)}"
            source.keep_apart(own.node, f"`{name}` stands for something else in {place}")

    def _check_unshared(self, source: Source, statement: ast.Global) -> None:
        """Keeps apart modules of which one rebinds a name that another keeps the old value of."""
        shared = {f"{source.label}:{name}": name for name in statement.names}
        for node, target in self._targets.items():
            for alias in node.names:
                if name := shared.get(self._origin(target, alias.name)):
                    importer = next(module for module in self.sources if node in module.edits)
                    what = f"`global {name}` rebinds a name that {importer.label}:{node.lineno} imports"
                    source.keep_apart(statement, what)

    def _check_annotations(self, source: Source) -> None:
        """Keeps the modules apart rather than make strings of annotations that code may read."""
        if source.annotations and "annotations" not in source.names:
            for reader in self.sources:
                if line := reader.annotation_reader:
                    what = f"these annotations would become strings, and {reader.label}:{line} may read them"
                    source.keep_apart(source.annotations[0], what)

    def _origin(self, source: Source, name: str) -> str:
        """What a name of a module stands for: a library's `module.name`, or `file:name` for one of ours."""
        own = f"{source.label}:{name}"
        origins = set()
        for binding in source.bindings:
            if binding.name == name and binding.runs:
                match binding.node, binding.alias:
                    case ast.ImportFrom() as node, ast.alias(name=original) if node in self._targets:
                        origins.add(self._origin(self._targets[node], original))
                    case ast.ImportFrom(module=module), ast.alias(name=original):
                        origins.add(f"{module}.{original}")
                    case ast.Import(), ast.alias(name=module, asname=asname):
                        origins.add(module if asname else name)
                    case _:
                        origins.add(own)
        return origins.pop() if len(origins) == 1 else own


def _check_place(source: Source, site: Site) -> None:
    """Keeps the modules apart where an import does more than name what is there anyway."""
    if site.scopes and isinstance(site.scopes[-1], ast.ClassDef):
        source.keep_apart(site.node, "this import binds attributes of a class")
    if site.guard == "try":
        source.keep_apart(site.node, "this import is tried")
    if not site.scopes:
        if site.guard:
            source.keep_apart(site.node, "this import has a condition")
        for statement in source.tree.body[: source.tree.body.index(site.node)]:
            if not source.is_quiet(statement):
                source.keep_apart(site.node, f"this import comes after the code of line {statement.lineno}")


def check_foreign(source: Source, node: ImportStatement, names: Sequence[str]) -> None:
    """Refuses to import what Kaggle may not have, and what imports by name."""
    for name in names:
        if not is_allowed(name):
            what = (
                f"`{name.partition('.')[0]}` is no module here and neither numpy nor in the standard library"
            )
            source.refuse(node, what, "do without it: Kaggle may not have it")
        if name.partition(".")[0] in DYNAMIC_IMPORTERS or name == "sys.modules":
            what = f"`{name}` reaches modules by name, which the bundler cannot follow"
            source.refuse(node, what, "use import statements")


def _check_hidden(reader: Source, binder: Source, binding: Binding) -> NoReturn:
    """Keeps apart a module that looks a name up in vain, or among the built-ins, from one that has it."""
    name, line = binding.name, reader.first_read(binding.name)
    if hasattr(builtins, name):
        binder.keep_apart(binding.node, f"`{name}` hides the built-in one, which {reader.label}:{line} uses")
    place = f"{binder.label}:{getattr(binding.node, 'lineno', 1)}"
    reader.keep_apart(line, f"`{name}` is not bound here, but at {place}")


def is_allowed(name: str) -> bool:
    """Whether Kaggle certainly has the module `name`."""
    return name.partition(".")[0] in ALLOWED


def _aliases(node: ast.ImportFrom) -> str:
    """The code that binds the names an import statement binds, where those it imports are bound already."""
    pairs = [(alias.asname, alias.name) for alias in node.names]
    return "; ".join(f"{new} = {old}" for new, old in pairs if new not in (None, old))
