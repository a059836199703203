"""From lines of a bundle back to the modules it was made from."""

from __future__ import annotations

import re
import sys
import tarfile
from pathlib import Path
from typing import Annotated

import typer

from evaluation.errors import InputError
from submission.bundle import MAIN, locate


def where(
    path: Annotated[Path, typer.Argument(help="a bundle, or a .tar.gz with one")],
    lines: Annotated[
        list[int] | None, typer.Argument(help="lines of it; if none, those in a traceback on standard input")
    ] = None,
) -> None:
    """Name the module, and the line there, that lines of a bundle come from."""
    text = read_bundle(path)
    if lines:
        for line in lines:
            print(f"{path}:{line}: {place(text, line)}")
    else:
        if sys.stdin.isatty():
            print("Paste the traceback, then press Ctrl-D.", file=sys.stderr)
        for line_of_trace in sys.stdin:
            print(mapped(text, line_of_trace.rstrip("\n"), path.name))


def mapped(text: str, trace: str, name: str = MAIN) -> str:
    """A line of a traceback with the place in the sources after each line number of the bundle."""
    names = "|".join(sorted({re.escape(name), re.escape(MAIN)}))
    frame = rf'(File "(?:[^"]*[/\\])?(?:{names})", line |\b(?:{names}):)(\d+)'
    return re.sub(frame, lambda found: f"{found[0]} ({_place(text, int(found[2])) or 'the header'})", trace)


def place(text: str, line: int) -> str:
    """`module:line: its text` for a line of a bundle. Raises `InputError` where it has no such line."""
    rows = text.split("\n")
    if not 1 <= line <= text.count("\n"):
        raise InputError(f"line {line} is not in this file: it has lines 1 to {text.count(chr(10))}")
    found = _place(text, line)
    return f"{found}: {rows[line - 1].strip()}" if found else "the bundle's header"


def _place(text: str, line: int) -> str | None:
    found = locate(text, line)
    return f"{found[0]}:{found[1]}" if found else None


def read_bundle(path: Path) -> str:
    """The text of a bundle. Raises `InputError` for a file that is none."""
    try:
        if path.name.endswith(".gz"):
            with tarfile.open(path) as archive:
                member = archive.extractfile(MAIN)
                text = member.read().decode() if member else ""
        else:
            text = path.read_text(encoding="utf-8")
    except (OSError, KeyError, UnicodeDecodeError, tarfile.TarError) as error:
        raise InputError(f"cannot read {path} ({error}); name a bundle or a .tar.gz with {MAIN}") from None
    if locate(text, text.count("\n")) is None:
        raise InputError(f"{path} is no bundle; make one with python -m submission bundle SPEC -o {path}")
    return text
