"""A program whose modules stay apart: which ones it has, and whether a bundle can run them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

from submission.embedding import RESOURCES, Files, reader
from submission.program import Finder, check_foreign
from submission.source import Site, Source

# Names with which a module may bind others that its text does not show.
HIDDEN_BINDERS = {"__getattr__", "globals", "setattr", "vars"}


class Modules(Finder):
    """A program in as many namespaces as modules, all that any import statement of it may reach.

    Attributes:
        modules: its modules by the names they are imported by, those first that others need. None for a
            package without a file of its own.
        files: the data that they read with `engine.resources`, whose place a module with that data takes.
    """

    def __init__(self, roots: Sequence[Path]) -> None:
        super().__init__(roots)
        self.modules: dict[str, Source | None] = {}
        self.files = Files()
        self._found: dict[str, Source | None] = {}

    def add_entry(self, entry: Source) -> None:
        """Adds a module and all that it imports. Raises `BundleError`."""
        *parents, _ = entry.name.split(".")
        for size in range(1, len(parents) + 1):
            self._add(".".join(parents[:size]))
        self._found[entry.name] = entry
        self._read(entry.name, entry)
        self._embed()

    def _add(self, name: str) -> bool:
        """Adds the module `name`, if there is one."""
        if name not in self._found:
            path = self.find(name)
            if path is None and not self.is_folder(name):
                return False
            self._found[name] = source = self.load(path, name) if path else None
            self._read(name, source)
        return True

    def _read(self, name: str, source: Source | None) -> None:
        """Adds what a module imports, and then the module."""
        if source:
            source.check()
            source.check_apart()
            for site in source.sites:
                if site.guard != "typing":
                    self._follow(source, site)
        self.modules[name] = source

    def _follow(self, source: Source, site: Site) -> None:
        node = site.node
        if isinstance(node, ast.Import):
            for alias in node.names:
                if self.is_ours(source, node, alias.name):
                    self._require(source, site, alias.name)
                else:
                    check_foreign(source, node, [alias.name])
        elif node.level or self.is_ours(source, node, node.module or ""):
            self._follow_names(source, site, node)
        else:
            check_foreign(source, node, [f"{node.module}.{alias.name}" for alias in node.names])

    def _require(self, source: Source, site: Site, name: str) -> None:
        """Adds a module and the packages around it, as Python would run them."""
        parts = name.split(".")
        for size in range(1, len(parts) + 1):
            if not self._add(".".join(parts[:size])):
                if site.guard != "try":
                    source.refuse(
                        site.node, f"there is no module `{name}`", "mend its name or create its file"
                    )
                return

    def _follow_names(self, source: Source, site: Site, node: ast.ImportFrom) -> None:
        """Adds the module that names are imported from, and those of the names that are modules."""
        name = self.absolute(source, node)
        self._require(source, site, name)
        target = self._found.get(name)
        for alias in node.names:
            if alias.name == "*":
                for submodule in _texts(target):
                    self._add(f"{name}.{submodule}")
            elif (
                not self._add(f"{name}.{alias.name}")
                and site.guard != "try"
                and (target is None or not _may_bind(target, alias.name))
            ):
                where = target.label if target else name
                source.refuse(node, f"{where} has no `{alias.name}`", "import a name that it binds")

    def _embed(self) -> None:
        """Puts the files that the modules read into the module that has `data`."""
        for name, source in self.modules.items():
            if source and source.path == RESOURCES:
                resources = name
                break
        else:
            return
        for source in filter(None, self.modules.values()):
            self.files.add(source, self._spellings(source, resources))
        old = self.modules[resources]
        assert old
        self.modules[resources] = Source(old.path, old.label, old.name, reader(self.files.contents))

    def _spellings(self, source: Source, resources: str) -> set[str]:
        """How a module may write `data` of `engine.resources`."""
        package, _, last = resources.rpartition(".")
        spellings = {f"{resources}.data"}
        for node in (site.node for site in source.sites):
            if isinstance(node, ast.Import):
                spellings |= {
                    f"{alias.asname}.data" for alias in node.names if alias.name == resources and alias.asname
                }
                continue
            name = self.absolute(source, node)
            for alias in node.names:
                if (name, alias.name) == (package, last):
                    spellings.add(f"{alias.asname or last}.data")
                if name == resources:
                    spellings.add("data" if alias.name == "*" else alias.asname or alias.name)
        return spellings


def _texts(source: Source | None) -> list[str]:
    """The strings in a module that can be names: among them are those of its `__all__`."""
    nodes = ast.walk(source.tree) if source else ()
    texts = (node.value for node in nodes if isinstance(node, ast.Constant))
    return list(dict.fromkeys(text for text in texts if isinstance(text, str) and text.isidentifier()))


def _may_bind(source: Source, name: str) -> bool:
    """Whether a module may have a name once it has run."""
    if name in source.names or "*" in source.names:
        return True
    names = (getattr(node, "id", getattr(node, "name", None)) for node in ast.walk(source.tree))
    return not HIDDEN_BINDERS.isdisjoint(names)
