"""The Pythons on this machine that a submission can be tried on: on PATH, pyenv's, uv's, the running one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

OLDEST = (3, 10)
NEWEST = 20
PROBE = """
import sys
try:
    import numpy
except ImportError:
    numpy = None
print(*sys.version_info[:3], numpy is not None)
"""


@dataclass(frozen=True)
class Python:
    """An interpreter: its version, where it is, whether it has numpy."""

    version: tuple[int, int, int]
    path: Path
    numpy: bool

    def __str__(self) -> str:
        return ".".join(map(str, self.version))


def pythons() -> list[Python]:
    """One Python of each minor version from 3.10 on, oldest first, without that of the running one.

    Of several of one version one that has numpy is taken, or the first.
    """
    with ThreadPoolExecutor(4) as pool:
        probed = [python for python in pool.map(_probe, dict.fromkeys(_paths())) if python]
    chosen = dict[tuple[int, int], Python]()
    for python in probed:
        minor = python.version[:2]
        if OLDEST <= minor != sys.version_info[:2] and (
            minor not in chosen or python.numpy > chosen[minor].numpy
        ):
            chosen[minor] = python
    return [chosen[minor] for minor in sorted(chosen)]


def _paths() -> Iterator[Path]:
    """Where Pythons may be."""
    names = ["python3", "python", *(f"python3.{minor}" for minor in range(OLDEST[1], NEWEST))]
    suffix = ".exe" if os.name == "nt" else ""
    for folder in os.get_exec_path():
        yield from _files(Path(folder), [name + suffix for name in names])
    home = Path.home()
    roots = [
        Path(os.environ.get("PYENV_ROOT", home / ".pyenv")) / "versions",
        Path(os.environ.get("UV_PYTHON_INSTALL_DIR", home / ".local/share/uv/python")),
    ]
    for root in roots:
        for version in sorted(root.glob("*")):
            yield from _files(version / "bin", ["python3"])


def _files(folder: Path, names: list[str]) -> Iterator[Path]:
    return (folder / name for name in names if (folder / name).is_file())


def _probe(path: Path) -> Python | None:
    """The Python at `path`; None if it does not run, as pyenv's stand-ins for what is not chosen."""
    try:
        done = subprocess.run(
            [path, "-I", "-B", "-c", PROBE], capture_output=True, text=True, timeout=20, check=True
        )
        *version, numpy = done.stdout.split()
        major, minor, micro = map(int, version)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return Python((major, minor, micro), path, numpy == "True")
