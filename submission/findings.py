"""What the check reports: pitfalls it met in a submission."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.pitfalls import PITFALLS, Severity


@dataclass(frozen=True)
class Finding:
    """A pitfall met in a submission; `part` is the part of the check that met it, `seen` where and how."""

    id: str
    severity: Severity
    part: str
    what: str
    remedy: str
    seen: str


def finding(name: str, part: str, seen: str, severity: Severity | None = None) -> Finding:
    """The finding `name`, with the severity of the table unless another is given."""
    pitfall = PITFALLS[name]
    return Finding(name, severity or pitfall.severity, part, pitfall.what, pitfall.remedy, seen)
