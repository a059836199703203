"""Small tables, as text and as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def as_text(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells, indented by 2: the first column flush left, the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        ("  " + "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])).rstrip()
        for row in rows
    )


def as_html(rows: Sequence[Sequence[str]]) -> str:
    """The same as an HTML table, its first row headings."""
    head, *body = ("".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) for tag, row in _tagged(rows))
    return f"<table><tr>{head}</tr>" + "".join(f"<tr>{row}</tr>" for row in body) + "</table>"


def notes_as_text(notes: Iterable[tuple[str, str]]) -> str:
    """Lines of a label and what there is to say."""
    return "\n".join(f"  {label:14}  {text}" for label, text in notes)


def notes_as_html(notes: Iterable[tuple[str, str]]) -> str:
    """The same as an HTML list."""
    return (
        "<dl>"
        + "".join(f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in notes)
        + "</dl>"
    )


def _tagged(rows: Sequence[Sequence[str]]) -> Iterable[tuple[str, Sequence[str]]]:
    return ((("td" if number else "th"), row) for number, row in enumerate(rows))
