"""Takes the place of `engine.native.build` in a bundle: the core comes with it, for Linux on x86-64.

A library can only be loaded from a file. This one is in memory, or without a name in the folder for temporary
files, so that nothing is left behind.
"""

from __future__ import annotations

import ctypes
import os
import platform
import tempfile
from collections.abc import Callable
from pathlib import Path

from engine.resources import data

CORE_TARGET = ("Linux", "x86_64")
CORE_NEEDS = frozenset(("avx2", "bmi1", "bmi2", "fma", "movbe"))  # x86-64-v3, as Linux calls it
PROCESS_FILES = "/proc/self/fd"


class NativeError(RuntimeError):
    """The native core cannot be had on this machine; the message says why."""


def source_hash() -> int:
    """64 bits that change with the core's source; the library carries them, and the loader compares."""
    return int.from_bytes(data("core.hash"), "big")


def library() -> Path:
    """The library as a file of this process, which stays open. Raises `NativeError`.

    However often a process loads bundles of the same core, they share one file.
    """
    machine = platform.system(), platform.machine()
    if machine != CORE_TARGET:
        raise NativeError(f"this file has no native core for {' on '.join(machine)}")
    if missing := CORE_NEEDS - processor_flags():
        raise NativeError(f"the processor lacks {', '.join(sorted(missing))}, which the native core needs")
    name = f"connectx-core-{source_hash():016x}"
    if path := opened(name):
        return path
    reasons = []
    for place, create in (("in memory", in_memory), ("in a temporary file", in_temporary_folder)):
        try:
            return loadable(create, name)
        except (AttributeError, OSError) as error:
            reasons.append(f"{place}: {reason(error)}")
    raise NativeError(f"the native core cannot be loaded: {'; '.join(reasons)}")


def reason(error: AttributeError | OSError) -> str:
    """What was wrong, without the name of the file, which is another one each time."""
    return getattr(error, "strerror", None) or str(error).rpartition(": ")[2]


def processor_flags() -> frozenset[str]:
    """What the processor can do; nothing where Linux does not tell."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(frozenset(line.split()) for line in lines if line.startswith("flags"))
    except (OSError, StopIteration):
        return frozenset()


def opened(name: str) -> Path | None:
    """The file in memory of this name, if this process has one."""
    for path in Path(PROCESS_FILES).iterdir():
        try:
            if os.readlink(path).startswith(f"/memfd:{name}"):
                return path
        except OSError:  # closed since
            continue
    return None


def loadable(create: Callable[[str], int], name: str) -> Path:
    """The library in a new file, once it has been loaded from there; else `OSError`."""
    file = create(name)
    path = Path(PROCESS_FILES, str(file))
    try:
        with open(file, "wb", closefd=False) as stream:
            stream.write(data("core.so"))
        ctypes.CDLL(str(path))
    except OSError:
        os.close(file)
        raise
    return path


def in_memory(name: str) -> int:
    """A new file in memory; `AttributeError` where Python knows no such files."""
    return os.memfd_create(name)


def in_temporary_folder(name: str) -> int:
    """A new file without a name on a disk."""
    with tempfile.TemporaryFile(prefix=name) as file:
        return os.dup(file.fileno())
