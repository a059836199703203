"""The modules of a program that is to become one file: their order, and whether they go together."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from evaluation.loading import replace_constants
from submission.embedding import COMPILED_CORE, EMBEDDED_CORE, LABEL, RESOURCES, Files, reader
from submission.source import Binding, BundleError, ImportStatement, Site, Source, parse, read_text

ALLOWED = sys.stdlib_module_names | {"numpy"}
# Modules that import by name, which cannot be followed.
DYNAMIC_IMPORTERS = {"builtins", "importlib", "imp", "pkgutil", "runpy", "zipimport"}


class Program:
    """The modules of a bundle, found by following imports from the entry, depth first as Python does.

    Attributes:
        sources: the modules in the order in which they run; the entry is the last.
        futures: the features their `from __future__` statements name.
        files: the data that they read with `engine.resources`, whose place a module with that data takes.
    """

    def __init__(self, roots: Sequence[Path]) -> None:
        self.roots = roots
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

    def add_entry(self, path: Path, constants: Mapping[str, object]) -> None:
        """Adds the module in file `path` and, before it, all that it imports."""
        label = self._label(path)
        text = read_text(path, label)
        parse(text, label)
        name = ".".join(Path(label).with_suffix("").parts)
        self._add(self._new(path, name, replace_constants(text, constants, label)))
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

    def _new(self, path: Path, name: str, text: str) -> Source:
        label = self._label(path)
        if path == RESOURCES:
            label, text = LABEL, reader({})
        if twin := next((other for other in self._known.values() if other.label == label), None):
            raise BundleError(f"{label}:1: this stands for {twin.path} and for {path}; rename one of them")
        source = self._known[path] = Source(path, label, name, text)
        return source

    def _label(self, path: Path) -> str:
        inside = (path.relative_to(root) for root in self.roots if path.is_relative_to(root))
        return next(inside, Path(path.name)).as_posix()

    def _add(self, source: Source) -> None:
        self._running.append(source)
        source.check()
        for site in source.sites:
            self._follow(source, site)
        self._running.pop()
        self.sources.append(source)

    def _find(self, name: str) -> Path | None:
        """The file of the first-party module `name`."""
        for root in self.roots:
            base = root.joinpath(*name.split("."))
            for path in (base / "__init__.py", base.with_name(f"{base.name}.py")):
                if path.is_file():
                    return EMBEDDED_CORE if path == COMPILED_CORE else path
        return None

    def _is_ours(self, source: Source, node: ImportStatement, name: str) -> bool:
        """Whether `name` belongs to a first-party module or package."""
        top = name.partition(".")[0]
        if (path := self._find(top)) and top in ALLOWED:
            source.refuse(
                node, f"`{top}` is {self._label(path)} here, and a known library too", "rename the file"
            )
        return path is not None or (top not in ALLOWED and any((root / top).is_dir() for root in self.roots))

    def _follow(self, source: Source, site: Site) -> None:
        """Decides what becomes of an import statement, and adds the module it imports if that is ours."""
        node = site.node
        modules = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        is_relative = isinstance(node, ast.ImportFrom) and node.level > 0
        ours = [name for name in modules if is_relative or self._is_ours(source, node, name)]
        if site.guard == "typing":
            if ours or not all(map(_is_allowed, modules)):
                source.replace_import(site, "")
        elif any(alias.name == "*" for alias in node.names):
            source.refuse(node, "a star import hides what it binds", "name what is imported")
        elif isinstance(node, ast.Import):
            if ours:
                _refuse_module(source, node, ours[0])
            _check_foreign(source, node, modules)
        elif ours:
            self._flatten_import(source, site, node)
        elif node.module == "__future__":
            self.futures |= {alias.name for alias in node.names}
            source.replace_import(site, _aliases(node))
        else:
            _check_foreign(source, node, [f"{node.module}.{alias.name}" for alias in node.names])

    def _absolute(self, source: Source, node: ast.ImportFrom) -> str:
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

    def _flatten_import(self, source: Source, site: Site, node: ast.ImportFrom) -> None:
        """Adds the module that a statement imports from and replaces the statement."""
        _check_place(source, site)
        name = self._absolute(source, node)
        target = self._module(source, node, name)
        for alias in node.names:
            if target in (None, source) or alias.name not in target.names:
                if self._find(f"{name}.{alias.name}"):
                    _refuse_module(source, node, f"{name}.{alias.name}")
                where = target.label if target else name
                source.refuse(node, f"{where} has no `{alias.name}`", "import a name that it binds")
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
        path = self._find(name)
        if path is None:
            parts = name.split(".")
            if not any(root.joinpath(*parts).is_dir() for root in self.roots):
                importer.refuse(node, f"there is no module `{name}`", "mend its name or create its file")
            return None
        source = self._known.get(path) or self._new(path, name, read_text(path, self._label(path)))
        if source.name != name:
            what = (
                f"{source.label} is imported as `{name}` and as `{source.name}`, so Python would run it twice"
            )
            importer.refuse(node, what, "use one of the names")
        return source

    def _run(self, importer: Source, node: ast.ImportFrom, source: Source) -> None:
        """Adds a module where its first import stands."""
        if source in self._running:
            chain = [module.label for module in self._running[self._running.index(source) :]]
            what = f"a cycle of imports: {' -> '.join([*chain, source.label])}"
            importer.refuse(node, what, "move what both need into a module of its own")
        if source not in self.sources:
            self._add(source)

    def _check_locals(self, source: Source, site: Site, node: ast.ImportFrom, alias: ast.alias) -> None:
        """Refuses an import in a function that cannot do without its local name.

        In a bundle the name is the module's: so no function around the import may bind it otherwise.
        """
        for function in site.scopes:
            if isinstance(function, ast.ClassDef):
                if alias.name.startswith("__"):  # names of this form are other ones inside a class
                    source.refuse(node, f"`{alias.name}` is imported inside a class", "import it at the top")
                continue
            for binding in source.local_bindings(function):
                if binding.name not in (alias.name, alias.asname):
                    continue
                is_declared = isinstance(binding.node, ast.Global | ast.Nonlocal)
                if is_declared or (binding.name == alias.name and not self._is_import(source, binding, node)):
                    what = f"`{binding.name}` is imported in a function that binds it elsewhere, too"
                    source.refuse(binding.node, what, "import it at the top, or rename the other one")

    def _is_import(self, source: Source, binding: Binding, node: ast.ImportFrom) -> bool:
        """Whether a local binding is an import, by its own name, from the module that `node` imports from."""
        return (
            isinstance(binding.node, ast.ImportFrom)
            and binding.alias is not None
            and binding.alias.name == binding.name
            and self._absolute(source, binding.node) == self._absolute(source, node)
        )

    def check(self) -> None:
        """Refuses a program whose modules do not go together in one namespace."""
        bound: dict[str, tuple[Source, Binding]] = {}
        for source in self.sources:
            for binding in source.bindings:
                if binding.runs:
                    other, first = bound.setdefault(binding.name, (source, binding))
                    self._check_same(source, binding, other, first)
        are_strings = "annotations" in self.futures
        for source in self.sources:
            for name in sorted(source.foreign_reads & bound.keys()):
                _refuse_hidden(source, *bound[name])
            for statement in source.global_statements:
                self._check_unshared(source, statement)
            source.check_fields(are_strings)
            if are_strings:
                self._check_annotations(source)

    def _check_same(self, source: Source, binding: Binding, other: Source, first: Binding) -> None:
        """Refuses a name that stands for different things in two modules."""
        name = binding.name
        if other is source or (name == "__all__" and not any(module.reads(name) for module in self.sources)):
            return
        if self._origin(source, name) != self._origin(other, name):
            own = next(
                (bound for bound in source.bindings if bound.name == name and not bound.alias), binding
            )
            what = f"`{name}` stands for something else in {other.label}:{getattr(first.node, 'lineno', 1)}"
            source.refuse(own.node, f"{what}, and a bundle has one namespace", "rename one of the two")

    def _check_unshared(self, source: Source, statement: ast.Global) -> None:
        """Refuses to rebind a name that another module imports, which would keep the old value."""
        shared = {f"{source.label}:{name}": name for name in statement.names}
        for node, target in self._targets.items():
            for alias in node.names:
                if name := shared.get(self._origin(target, alias.name)):
                    importer = next(module for module in self.sources if node in module.edits)
                    what = f"`global {name}` rebinds a name that {importer.label}:{node.lineno} imports"
                    source.refuse(statement, what, "keep the value in an object that both share")

    def _check_annotations(self, source: Source) -> None:
        """Refuses to make strings of a module's annotations where code of the program reads annotations."""
        if source.annotations and "annotations" not in source.names:
            for reader in self.sources:
                if line := reader.annotation_reader:
                    what = (
                        f"other modules make these annotations strings, which {reader.label}:{line} may read"
                    )
                    source.refuse(
                        source.annotations[0], what, "add `from __future__ import annotations` here"
                    )

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
    """Refuses a first-party import where flattening would change what happens."""
    if site.scopes and isinstance(site.scopes[-1], ast.ClassDef):
        source.refuse(
            site.node, "an import inside a class binds an attribute", "import at the top of the module"
        )
    if site.guard == "try":
        source.refuse(
            site.node, "a bundle always has this module, so `try` does nothing", "import without `try`"
        )
    if not site.scopes:
        if site.guard:
            source.refuse(
                site.node, "a bundle has this module on every condition", "import without a condition"
            )
        for statement in source.tree.body[: source.tree.body.index(site.node)]:
            if not source.is_quiet(statement):
                what = f"in a bundle, this module runs before line {statement.lineno}, not after it"
                source.refuse(site.node, what, "move the import up, above all other code")


def _check_foreign(source: Source, node: ImportStatement, names: Sequence[str]) -> None:
    for name in names:
        if not _is_allowed(name):
            what = (
                f"`{name.partition('.')[0]}` is no module here and neither numpy nor in the standard library"
            )
            source.refuse(node, what, "do without it: Kaggle may not have it")
        if name.partition(".")[0] in DYNAMIC_IMPORTERS or name == "sys.modules":
            what = f"`{name}` reaches modules by name, which the bundler cannot follow"
            source.refuse(node, what, "use import statements")


def _refuse_module(source: Source, node: ImportStatement, name: str) -> NoReturn:
    what = f"`{name}` is imported as a module, and a bundle has no module objects"
    source.refuse(node, what, f"write `from {name} import ...` with the names that are used")


def _refuse_hidden(reader: Source, binder: Source, binding: Binding) -> NoReturn:
    """Refuses a name that a module looks up in vain, or among the built-ins, and would find in another."""
    name, line = binding.name, reader.first_read(binding.name)
    if hasattr(builtins, name):
        what = f"`{name}` would hide the built-in one, which {reader.label}:{line} uses"
        binder.refuse(binding.node, what, "rename it")
    place = f"{binder.label}:{getattr(binding.node, 'lineno', 1)}"
    reader.refuse(
        line, f"`{name}` is not bound here, but a bundle would find that of {place}", "import or rename it"
    )


def _is_allowed(name: str) -> bool:
    return name.partition(".")[0] in ALLOWED


def _aliases(node: ast.ImportFrom) -> str:
    """The code that binds the names an import statement binds, where those it imports are bound already."""
    pairs = [(alias.asname, alias.name) for alias in node.names]
    return "; ".join(f"{new} = {old}" for new, old in pairs if new not in (None, old))
