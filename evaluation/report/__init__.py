"""A tournament, a replay or any recorded games as one HTML page that needs nothing else, not even a network.

`reading` reads and judges the games, `facts` counts them, `verdict` says what follows, `plots` knows where
values go on an axis, and `page` puts all of it into `page.html.jinja`, with `style.css` and `viewer.js`.
"""

from __future__ import annotations

from pathlib import Path

from evaluation.errors import InputError
from evaluation.report.facts import Facts
from evaluation.report.page import render
from evaluation.report.reading import gather

__all__ = ["Facts", "gather", "page_path", "render", "write_page"]


def page_path(source: Path) -> Path:
    """Where the page of a folder or file is written if nothing else is said."""
    return source / "report.html" if source.is_dir() else source.with_name(f"{source.name}.html")


def write_page(facts: Facts, path: Path) -> int:
    """Writes the page; returns its size in bytes. Raises `InputError` where it cannot be written."""
    page = render(facts).encode("utf-8", "replace")
    try:
        return path.write_bytes(page)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
