"""From an agent spec to the text of one file that Kaggle can run.

The entry module and every first-party module it needs are flattened: written below one another,
dependencies first, in the order in which Python would run them, in one namespace. Their text stays as
it is but for the import statements between them, which become comments. A program for which that would
make a difference is refused, with the file, the line and what to do.

`from __future__ import annotations` holds for a whole file. It is hoisted to the top as soon as one module
has it: dropping it could raise NameError, while the modules without it lose nothing as long as no code
reads annotations. Where code does, or where a dataclass would act on a string, the program is refused.

Functions that no move needs stay in: that nothing reaches them cannot be proved, and Kaggle takes 100 MB.
"""

from __future__ import annotations

import ast
import gzip
import io
import keyword
import os
import shlex
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from evaluation.console import output
from evaluation.errors import InputError
from evaluation.loading import KAGGLE, is_file, module_path, parse_spec
from submission.embedding import LABEL, packed
from submission.program import Program
from submission.source import HEADING, BundleError, Source, bindings, is_text, parse

__all__ = ["Bundle", "BundleError", "bundle", "flatten", "locate", "make_bundle", "write_bundle"]

ROOT = Path(__file__).resolve().parent.parent
MAIN, ARCHIVE = "main.py", "submission.tar.gz"

HEADER = """\
# A ConnectX agent in one file, as Kaggle runs it. To change it, change its sources and make it again:
# python -m submission bundle {command} -o main.py
# spec: {spec}
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The ConnectX kit authors
"""


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


def bundle(spec: str) -> str:
    """The text of one file with the agent that `spec` names: a module of agents/, or a file.

    A file may import modules beside it and the kit's. The same spec and sources give the same text.
    Raises `BundleError` for what does not fit into one file, `SpecError` for a spec that names no agent.
    """
    return make_bundle(spec).text


def make_bundle(spec: str) -> Bundle:
    """What `bundle` does, with the modules that went into it."""
    target, constants = parse_spec(spec)
    if target.startswith(KAGGLE):
        raise BundleError(f"{spec} is Kaggle's own; bundle a module of agents/ or a file")
    if not is_file(target):
        return flatten(module_path(target), [ROOT], constants, target)
    path = Path(os.path.abspath(target))
    return flatten(path, [ROOT, path.parent], constants)


def flatten(
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
    program = Program(roots)
    program.add_entry(entry, constants or {})
    program.check()
    sources = [source for source in program.sources if not source.is_empty]
    text = _header(target or program.entry.label, constants or {})
    if features := sorted(program.futures):
        text += f"from __future__ import {', '.join(features)}\n"
    for source in sources:
        text += "\n\n"
        offset = text.count("\n") + 1
        text += f"# ==== {source.label}: line N here is line N - {offset} there ====\n{source.flattened()}"
    made = Bundle(text, tuple(sources), program.files.contents)
    _check_agent(made, program.entry)
    _check_sections(made)
    return made


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
    print_sizes(made, path)


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


def print_sizes(made: Bundle, path: Path) -> None:
    """Prints what a bundle is made up of, in bytes."""

    def row(text: str) -> None:
        output.print(text, markup=False, soft_wrap=True)

    row(f"{path}: {path.stat().st_size:,} bytes, made from")
    for source, (start, _) in zip(made.sources, _headings(made.text), strict=True):
        row(f"  {source.label}: {len(source.flattened().encode()):,} bytes, from line {start + 1}")
        for name, content in sorted(made.files.items()) if source.label == LABEL else ():
            row(f"    {name}: {len(content):,} bytes, {len(packed(content)):,} as text")


def _header(target: str, constants: Mapping[str, object]) -> str:
    values = ",".join(f"{name}={_value(value)}" for name, value in constants.items())
    spec = f"{target}:{values}" if values else target
    return HEADER.format(spec=spec, command=shlex.quote(spec))


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
    """Refuses a bundle in which `agent` is not the last name to be bound: Kaggle plays the last callable."""
    remedy = "end the module with `def agent(obs, config)`"
    for source in made.sources:
        for statement in source.global_statements:
            if "agent" in statement.names:
                source.refuse(statement, "`global agent` may bind it too early", "bind it once, at the end")
    body = [statement for statement in parse(made.text, "bundle").body if not _does_nothing(statement)]
    first = next((number for number, node in enumerate(body) if "agent" in _names(node)), None)
    if first is None:
        entry.refuse(entry.text.count("\n") or 1, "nothing binds `agent`", remedy)
    here = _place(made, body[first])
    if not _binds_agent(body[first]):
        raise BundleError(f"{here}: this may bind other names than `agent`, or none; {remedy}")
    if body[first + 1 :]:
        what = f"this comes after `agent` ({here}), and Kaggle plays the callable that is first bound last"
        raise BundleError(f"{_place(made, body[first + 1])}: {what}; {remedy}")


def _names(statement: ast.stmt) -> set[str]:
    """The names a statement at the top level binds."""
    return {binding.name for binding in bindings([statement])}


def _place(made: Bundle, statement: ast.stmt) -> str:
    label, line = locate(made.text, statement.lineno) or ("bundle", statement.lineno)
    return f"{label}:{line}"


def _binds_agent(statement: ast.stmt) -> bool:
    """Whether a statement certainly binds `agent` and nothing else."""
    is_plain = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign)
    return is_plain and _names(statement) == {"agent"}


def _does_nothing(statement: ast.stmt) -> bool:
    return is_text(statement) or isinstance(statement, ast.Pass)
