"""Data files inside a bundle: which ones its modules read, and the text that carries them.

A module reads a file with `engine.resources.data("name")`. The bundler puts the content in the place of
`engine.resources`, compressed (xz) and written in base 85, whose characters need no escaping. The native core
is such a file too, of which there is no copy on disk: it is compiled for the machine that Kaggle has.
"""

from __future__ import annotations

import ast
import base64
import lzma
from collections.abc import Callable, Collection, Iterator
from hashlib import sha256
from pathlib import Path

from engine.native.build import NativeError, cache_folder, compile_core, source_hash
from submission.source import BundleError, Source

ROOT = Path(__file__).resolve().parent.parent
RESOURCES = ROOT / "engine" / "resources.py"
# The first of the two compiles the native core; the second, of the same names, takes it from the bundle.
COMPILED_CORE = ROOT / "engine" / "native" / "build.py"
EMBEDDED_CORE = COMPILED_CORE.with_name("embedded.py")

LABEL = "embedded data"
WIDTH = 100
CORE_TARGET, CORE_PROCESSOR = "x86_64-linux-gnu", "x86_64_v3"

READER = '''\
"""The data of this agent, as compressed text: what `data` reads."""

import base64
import hashlib
import lzma

EMBEDDED_DATA = {{{entries}}}  # name: SHA-256 of the content, content


def data(name: str) -> bytes:
    """The content of an embedded file. Raises `FileNotFoundError`, or `ValueError` where it is damaged."""
    if name not in EMBEDDED_DATA:
        raise FileNotFoundError(f"{{name}} is not in this file: bundle again, calling data({{name!r}})")
    digest, text = EMBEDDED_DATA[name]
    try:
        content = lzma.decompress(base64.b85decode("".join(text.split())))
    except (ValueError, lzma.LZMAError):
        content = b""
    if hashlib.sha256(content).hexdigest() != digest:
        raise ValueError(f"{{name}} is damaged in this file: bundle again, and do not edit its text")
    return content
'''


def reader(files: dict[str, bytes]) -> str:
    """The module that takes the place of `engine.resources`: `data` and the content of `files`."""
    entries = "".join(f"    {name!r}: ({_entry(files[name])}),\n" for name in sorted(files))
    return READER.format(entries=f"\n{entries}" if entries else "")


def _entry(content: bytes) -> str:
    text = packed(content)
    lines = [text[start : start + WIDTH] for start in range(0, len(text), WIDTH)]
    return "\n".join([f'"{sha256(content).hexdigest()}", """', *lines, '"""'])


def packed(content: bytes) -> str:
    """Bytes as compressed text, without spaces, quotes or backslashes."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]
    compressed = lzma.compress(content, check=lzma.CHECK_NONE, filters=filters)
    return base64.b85encode(compressed).decode()


def read_data(source: Source, name: str, where: ast.AST) -> bytes:
    """The content of the file that a module calls `name`. Raises `BundleError`."""
    if name in source.files:
        return source.files[name]
    if source.path == EMBEDDED_CORE and name in CORE_FILES:
        try:
            return CORE_FILES[name]()
        except NativeError as error:
            source.refuse(where, f"the native core is not to be had: {error}", "install the compiler")
    try:
        return (source.path.parent / name).read_bytes()
    except OSError as error:
        source.refuse(where, f"`{name}` cannot be read: {error.strerror}", "put it beside this module")


def _core() -> bytes:
    """The native core for Kaggle's machine; the same bytes from any machine."""
    path = cache_folder() / f"core-{source_hash():016x}-{CORE_PROCESSOR}.so"
    if not path.exists():
        compile_core(CORE_TARGET, CORE_PROCESSOR, path)
    return path.read_bytes()


# What `EMBEDDED_CORE` reads.
CORE_FILES: dict[str, Callable[[], bytes]] = {
    "core.so": _core,
    "core.hash": lambda: source_hash().to_bytes(8, "big"),
}


def data_calls(source: Source, spellings: Collection[str]) -> Iterator[tuple[str, ast.Call]]:
    """The names of the files that a module reads, where `spellings` are how it writes `data`.

    Raises `BundleError` for a name that is not written out.
    """
    remedy = 'write `data("name of the file")`'
    called = set()
    for node in ast.walk(source.tree):
        match node:
            case ast.Call(func=ast.Name() | ast.Attribute() as function) if _text(function) in spellings:
                match node:
                    case ast.Call(args=[ast.Constant(value=str(name))], keywords=[]):
                        called.add(function)
                        yield name, node
                    case _:
                        source.refuse(node, "the bundler cannot tell what file this reads", remedy)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name | ast.Attribute) and _text(node) in spellings and node not in called:
            source.refuse(node, f"`{_text(node)}` is used for more than to read a file", f"only {remedy}")
        if isinstance(node, ast.arg) and node.arg in spellings:
            source.refuse(node, f"`{node.arg}` is the reader of files in this module", "rename the parameter")


def _text(node: ast.Name | ast.Attribute) -> str:
    return ast.unparse(node)


class Files:
    """The data files of one bundle."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self._readers: dict[str, Source] = {}

    def add(self, source: Source, spellings: Collection[str]) -> None:
        """Adds the files that a module reads. Raises `BundleError`."""
        for name, call in data_calls(source, spellings):
            content = read_data(source, name, call)
            if self.contents.setdefault(name, content) != content:
                what = f"`{name}` is another file than that of {self._readers[name].label}"
                raise BundleError(f"{source.label}:{call.lineno}: {what}; rename one of the two")
            self._readers.setdefault(name, source)
