"""From an agent spec to the text of one file that Kaggle can run.

The entry module and every first-party module it needs are flattened: written below one another,
dependencies first, in the order in which Python would run them, in one namespace. Their text stays as
it is but for the import statements between them, which become comments. Where that is not proved to be the
same program (a module is imported as such, two modules have a name in common, imports go in a circle ...),
each module stays a module: its text, unchanged, in a string, which `submission.loader` in the same file runs
on its first import. What can be done in neither way is refused, with the file, the line and what to do.

`from __future__ import annotations` holds for a whole file. It is hoisted to the top as soon as one module
has it: dropping it could raise NameError, while the modules without it lose nothing as long as no code
reads annotations. Where code does, or where a dataclass would act on a string, the modules are kept apart.

Functions that no move needs stay in: that nothing reaches them cannot be proved, and Kaggle takes 100 MB.
"""

from __future__ import annotations

import ast
import gzip
import html
import io
import keyword
import os
import shlex
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from evaluation.console import output
from evaluation.errors import InputError
from evaluation.loading import KAGGLE, is_file, module_path, parse_spec, replace_constants
from submission.embedding import LABEL, packed
from submission.modules import Modules
from submission.notebook import Agent, agent_source
from submission.program import Finder, Program
from submission.source import (
    HEADING,
    BundleError,
    NotFlatError,
    Source,
    binds_agent,
    does_nothing,
    names_bound,
    parse,
    read_text,
)

__all__ = [
    "Bundle",
    "BundleError",
    "assemble",
    "bundle",
    "locate",
    "make_bundle",
    "save",
    "write",
    "write_bundle",
]

ROOT = Path(__file__).resolve().parent.parent
LOADER = ROOT / "submission" / "loader.py"
MAIN, ARCHIVE = "main.py", "submission.tar.gz"

HEADER = """\
# A ConnectX agent in one file, as Kaggle runs it. To change it, change its sources and make it again:
# python -m submission bundle {command} -o main.py
# spec: {spec}
"""
LICENSE = """\
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The ConnectX kit authors
"""
NOTEBOOK_HEADER = f"""\
# A ConnectX agent in one file, as Kaggle runs it, made from a notebook or script by submission.bundle.
{LICENSE}"""


@dataclass(frozen=True)
class Bundle:
    """The text of a bundled agent and what it was made from.

    Attributes:
        sources: its modules, in the order of the text.
        files: the data files in it, by the names they are read by.
    """

    text: str
    sources: tuple[Source, ...]
    files: Mapping[str, bytes]


class Format(StrEnum):
    """What Kaggle takes: the file itself, or an archive with it at the root."""

    FILE = "py"
    ARCHIVE = "tar.gz"


def bundle(agent: str | Path | Agent) -> str:
    """The text of one file with an agent: a module of agents/ by its spec, a file, a folder, or a function.

    A file may import modules beside it and the kit's; a folder has its agent in main.py. A function of a
    notebook or script comes with all that it reads there (see `submission.notebook`). The same sources give
    the same text. Raises `BundleError` for what does not fit into one file, `SpecError` for a spec that names
    no agent.
    """
    return make_bundle(agent).text


def write(agent: str | Path | Agent, path: str | Path = MAIN) -> Written:
    """Writes the bundle of an agent, as .tar.gz if `path` ends so; shown, the result tells its sizes."""
    made = make_bundle(agent)
    return Written(made, save(made, Path(path)))


def make_bundle(agent: str | Path | Agent) -> Bundle:
    """What `bundle` does, with the modules that went into it."""
    if callable(agent):
        folder = Path.cwd()
        return _assemble(lambda: agent_source(agent, folder), [ROOT, folder], NOTEBOOK_HEADER)
    spec = str(agent)
    target, constants = parse_spec(spec)
    if target.startswith(KAGGLE):
        raise BundleError(f"{spec} is Kaggle's own; bundle a module of agents/ or a file")
    if not is_file(target):
        return assemble(module_path(target), [ROOT], constants, target)
    path = Path(os.path.abspath(target))
    if path.is_dir():
        path /= MAIN
    package = path.parent
    while (package / "__init__.py").is_file():
        package = package.parent
    return assemble(path, [ROOT, package, path.parent], constants)


def assemble(
    entry: Path,
    roots: Sequence[Path],
    constants: Mapping[str, object] | None = None,
    target: str | None = None,
) -> Bundle:
    """The bundle of a module, whose first-party imports are looked up in `roots`, first root first.

    Args:
        entry: the module that ends with `agent`, below one of the roots.
        constants: values for upper-case constants at the top of the entry.
        target: what the spec in the header calls the entry; its label if not given.

    Raises `BundleError`.
    """
    label = Finder(roots).label(entry)
    text = read_text(entry, label)
    parse(text, label)
    name = ".".join(Path(label).with_suffix("").parts)

    def source() -> Source:
        return Source(entry, label, name, replace_constants(text, constants or {}, label))

    return _assemble(source, roots, _header(target or label, constants or {}))


def _assemble(source: Callable[[], Source], roots: Sequence[Path], header: str) -> Bundle:
    source().check_agent()
    try:
        return _flat(source(), roots, header)
    except NotFlatError as reason:
        return _apart(source(), roots, header, str(reason))


def _flat(entry: Source, roots: Sequence[Path], text: str) -> Bundle:
    """The bundle with all modules in one namespace. Raises `NotFlatError` where that is another program."""
    program = Program(roots)
    program.add_entry(entry)
    program.check()
    sources = [source for source in program.sources if not source.is_empty]
    if features := sorted(program.futures):
        text += f"from __future__ import {', '.join(features)}\n"
    for source in sources:
        text += "\n\n"
        text += f"{_heading(source, text)}{source.flattened()}"
    made = Bundle(text, tuple(sources), program.files.contents)
    _check_agent(made, program.entry)
    _check_sections(made)
    return made


def _apart(entry: Source, roots: Sequence[Path], text: str, reason: str) -> Bundle:
    """The bundle with each module in a namespace of its own."""
    program = Modules(roots)
    program.add_entry(entry)
    loader = Source(LOADER, LOADER.relative_to(ROOT).as_posix(), "", read_text(LOADER, LOADER.name))
    text += f"# Each module keeps to itself: {reason}\n\n\n"
    text += f"{_heading(loader, text)}{loader.flattened()}"
    for name, source in program.modules.items():
        text += f"\n\nMODULES.add({name!r}, {source is None or source.is_package}, "
        if source is None:
            text += '0, "")\n'
            continue
        line = text.count("\n") + 1
        quote, end = _quotes(source.text)
        text += f"{line}, {quote}\n"
        text += f"{_heading(source, text)}{_quoted(source.flattened(), quote)}{end})\n"
    text += f"\n\nagent = MODULES.load({entry.name!r}).agent\n"
    made = Bundle(text, (loader, *filter(None, program.modules.values())), program.files.contents)
    _check_modules(made, program.modules)
    return made


def _heading(source: Source, above: str) -> str:
    """The line above a module's text, where `above` is the bundle up to there."""
    return f"# ==== {source.label}: line N here is line N - {above.count(chr(10)) + 1} there ====\n"


def _quotes(text: str) -> tuple[str, str]:
    """How a text is written so that it stays as it is, if possible: what begins it, what ends it."""
    end = next((quotes for quotes in ("'''", '"""') if quotes not in text), "")
    return (f"r{end}", end) if end else ('"""', '"""')


def _quoted(text: str, quote: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"""', r"\"\"\"")
    return text if quote.startswith("r") else escaped


def _check_modules(made: Bundle, modules: Mapping[str, Source | None]) -> None:
    """Proves that every module is in the bundle as it is, at the lines its heading says."""
    calls = [
        statement.value
        for statement in parse(made.text, "bundle").body
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    ]
    added = {}
    for call in calls:
        name, is_package, line, text = map(ast.literal_eval, call.args)
        added[name] = is_package, text.split("\n", 2)[-1]
        if text and (line, 0) != (call.lineno, 0):
            raise BundleError(f"{name}: its lines are others than the bundler says; this is its defect")
    for name, source in modules.items():
        if added[name] != ((source.is_package, source.flattened()) if source else (True, "")):
            raise BundleError(f"{name}: its text differs in the bundle; this is a defect of the bundler")


def locate(text: str, line: int) -> tuple[str, int] | None:
    """Where line `line` (from 1) of a bundle comes from: a module's label and the line there.

    None for the header.
    """
    above = [(start, label) for start, label in _headings(text) if start < line]
    return (above[-1][1], line - above[-1][0]) if above else None


def _headings(text: str) -> list[tuple[int, str]]:
    """The line of each section's heading, which is the offset of the lines below it, and the label."""
    found = [(number, HEADING.fullmatch(line)) for number, line in enumerate(text.split("\n"), 1)]
    return [(number, match["label"]) for number, match in found if match]


def write_bundle(
    spec: Annotated[
        str, typer.Argument(help="the agent: n_step, n_step:N_STEPS=5, path/to/agent.py or a folder")
    ],
    path: Annotated[
        Path | None, typer.Option("--output", "-o", help="the file to write; main.py if not given")
    ] = None,
    format: Annotated[
        Format | None, typer.Option("--format", help="if not given, by the name of the file")
    ] = None,
) -> None:
    """Write an agent and all it needs into one file for Kaggle."""
    made = make_bundle(spec)
    path = save(made, path, format)
    output.print(str(Written(made, path)), markup=False, soft_wrap=True)


def save(made: Bundle, path: Path | None = None, format: Format | None = None) -> Path:
    """Writes a bundle and returns the path, by default main.py or submission.tar.gz. Raises `InputError`."""
    is_archive = format is Format.ARCHIVE if format or not path else path.name.endswith(".tar.gz")
    path = path or Path(ARCHIVE if is_archive else MAIN)
    if path.resolve() in {source.path.resolve() for source in made.sources}:
        raise BundleError(f"{path} is one of the bundle's sources; write to another file: -o main.py")
    content = made.text.encode()
    try:
        path.write_bytes(archived(content) if is_archive else content)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}; name another file: -o main.py") from None
    return path


def archived(content: bytes) -> bytes:
    """A .tar.gz with main.py at its root; the same bytes from anywhere."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        member = tarfile.TarInfo(MAIN)  # of user 0, in 1970
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), mtime=0)


@dataclass(frozen=True)
class Written:
    """A bundle in a file; shown, it tells what it is made up of."""

    bundle: Bundle
    path: Path

    @property
    def sizes(self) -> list[tuple[str, int, str]]:
        """What the file is made up of, its bytes, and a remark on it."""
        rows = []
        for source, (start, _) in zip(self.bundle.sources, _headings(self.bundle.text), strict=True):
            rows.append((f"  {source.label}", len(source.flattened().encode()), f", from line {start + 1}"))
            for name, content in sorted(self.bundle.files.items()) if source.label == LABEL else ():
                rows.append((f"    {name}", len(content), f", {len(packed(content)):,} as text"))
        return [(str(self.path), self.path.stat().st_size, ", made from"), *rows]

    def __str__(self) -> str:
        return "\n".join(f"{name}: {size:,} bytes{remark}" for name, size, remark in self.sizes)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td style='text-align:left;white-space:pre'>{html.escape(name)}</td><td>{size:,}</td>"
            f"<td style='text-align:left'>bytes{remark}</td></tr>"
            for name, size, remark in self.sizes
        )
        return f"<table>{rows}</table>"


def _header(target: str, constants: Mapping[str, object]) -> str:
    values = ",".join(f"{name}={_value(value)}" for name, value in constants.items())
    spec = f"{target}:{values}" if values else target
    return HEADER.format(spec=spec, command=shlex.quote(spec)) + LICENSE


def _value(value: object) -> str:
    is_word = isinstance(value, str) and value.isidentifier() and not keyword.iskeyword(value)
    return str(value) if is_word else repr(value)


def _check_sections(made: Bundle) -> None:
    """Proves that every section has the syntax tree of its source, line for line."""
    body = parse(made.text, "bundle").body
    headings = _headings(made.text)
    ends = [start for start, _ in headings[1:]] + [made.text.count("\n") + 1]
    for source, (start, label), end in zip(made.sources, headings, ends, strict=True):
        want = source.flattened_tree()
        have = ast.Module([statement for statement in body if start < statement.lineno < end], [])
        if label != source.label or _with_lines(want, 0) != _with_lines(have, start):
            raise BundleError(
                f"{source.label}:1: its section differs from it; this is a defect of the bundler"
            )


def _with_lines(tree: ast.Module, offset: int) -> tuple[str, list[int]]:
    return ast.dump(tree), [node.lineno - offset for node in ast.walk(tree) if hasattr(node, "lineno")]


def _check_agent(made: Bundle, entry: Source) -> None:
    """Raises `NotFlatError` unless `agent` is the last name to be bound, as it is in the entry."""
    for source in made.sources:
        for statement in source.global_statements:
            if "agent" in statement.names:
                source.keep_apart(statement, "`global agent` may bind it too early")
    body = [statement for statement in parse(made.text, "bundle").body if not does_nothing(statement)]
    first = next(statement for statement in body if "agent" in names_bound(statement))
    if first is not body[-1] or not binds_agent(first):
        label, line = locate(made.text, first.lineno) or (entry.label, 1)
        raise NotFlatError(f"{label}:{line}: `agent` is bound before other names")
