"""What runs the modules of a bundle that keeps them apart: an import statement for them alone.

The modules are texts in the same file. They are in `sys.modules` only while they run, which is when
`dataclasses` and others look there; so bundles in one process, or copies of one, share nothing.
"""

import builtins
import sys
import threading
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any


class Modules:
    """The modules of this file, each run on its first import, in Python's own order."""

    def __init__(self) -> None:
        self.file = sys._getframe().f_code.co_filename
        self.texts: dict[str, tuple[bool, str]] = {}
        self.loaded: dict[str, ModuleType] = {}
        self.lock = threading.RLock()
        self.names = {**vars(builtins), "__import__": self.import_}  # their built-in names

    def add(self, name: str, is_package: bool, line: int, text: str) -> None:
        """A module or package. Its text starts on a line of this file, where tracebacks will find it."""
        self.texts[name] = is_package, "\n" * (line - 1) + text

    def import_(
        self,
        name: str,
        globals: Mapping[str, Any] = {},
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = None,
        level: int = 0,
    ) -> ModuleType:
        """Does what `builtins.__import__` does, for these modules."""
        if level:
            parents = globals["__package__"].split(".")
            name = ".".join([*parents[: len(parents) - level + 1], *filter(None, [name])])
        elif name.partition(".")[0] not in self.texts:
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        with self.lock:
            module = self.load(name)
            if not fromlist:
                return self.loaded[name.partition(".")[0]]
            if hasattr(module, "__path__"):
                self.load_submodules(module, fromlist)
        return module

    def load_submodules(self, package: ModuleType, names: Sequence[str]) -> None:
        """Loads those names imported from a package that are modules in it."""
        for name in names:
            if name == "*":
                self.load_submodules(package, getattr(package, "__all__", ()))
            elif not hasattr(package, name) and f"{package.__name__}.{name}" in self.texts:
                self.load(f"{package.__name__}.{name}")

    def load(self, name: str) -> ModuleType:
        """The module, which runs now if it has not yet, after the packages around it."""
        parent, _, last = name.rpartition(".")
        if parent and name not in self.loaded:
            self.load(parent)
        if name in self.loaded:
            return self.loaded[name]
        if name not in self.texts:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        is_package, text = self.texts[name]
        module = self.loaded[name] = ModuleType(name)
        vars(module).update(__builtins__=self.names, __package__=name if is_package else parent)
        if is_package:
            vars(module)["__path__"] = []
        other = sys.modules.get(name)
        sys.modules[name] = module
        try:
            exec(compile(text, self.file, "exec", dont_inherit=True), vars(module))
        except BaseException:
            del self.loaded[name]
            raise
        finally:
            del sys.modules[name]
            if other is not None:
                sys.modules[name] = other
        if parent:
            setattr(self.loaded[parent], last, module)
        return module


MODULES = Modules()
