"""Compiles `core.c`, which includes `windows.c`, with the pinned ziglang package.

For this machine that happens on first use, for any other on demand: bundles carry one for Kaggle's.

The library needs no libc and no Python headers, so one file serves every Python of a platform, and the same
source gives the same bytes on every machine. It is kept in the user's cache folder under the hash of its
source.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from stat import S_ISDIR

SOURCE = Path(__file__).with_name("core.c")
SOURCES = (SOURCE, SOURCE.with_name("windows.c"))  # the first includes the other
FLAGS = (
    *("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-fvisibility=hidden"),
    *(
        "-fPIC",
        "-shared",
        "-nostdlib",
        "-g0",
        "-Wl,-s",
        "-fno-asynchronous-unwind-tables",
        "-fno-unwind-tables",
    ),
)

# What Linux calls the abilities that a baseline takes for granted, where not all x86-64 processors have them.
BASELINES = {
    "x86_64_v3": {"avx2", "bmi1", "bmi2", "fma", "movbe"},
    "x86_64_v2": {"popcnt", "sse4_2", "ssse3"},
}

# (system, machine) as `platform` names them: zig's target and the end of a library's name.
TARGETS = {
    ("Linux", "x86_64"): ("x86_64-linux-gnu", ".so"),
    ("Linux", "aarch64"): ("aarch64-linux-gnu", ".so"),
    ("Darwin", "x86_64"): ("x86_64-macos", ".dylib"),
    ("Darwin", "arm64"): ("aarch64-macos", ".dylib"),
    ("Windows", "AMD64"): ("x86_64-windows-gnu", ".dll"),
    ("Windows", "ARM64"): ("aarch64-windows-gnu", ".dll"),
}


class NativeError(RuntimeError):
    """The native core cannot be had on this machine; the message says why."""


def source_hash() -> int:
    """64 bits that change with source and flags; the library carries them, and the loader compares."""
    text = b"".join(path.read_bytes() for path in SOURCES)
    return int.from_bytes(sha256(text + " ".join(FLAGS).encode()).digest()[:8])


def library() -> Path:
    """The library for this machine, compiled now if it has not been. Raises `NativeError`."""
    machine = platform.system(), platform.machine()
    if machine not in TARGETS:
        raise NativeError(f"there is no native core for {' on '.join(machine)}")
    target, ending = TARGETS[machine]
    cpu = processor()
    try:
        path = cache_folder() / f"core-{source_hash():016x}-{cpu}{ending}"
        if not path.exists():
            compile_core(target, cpu, path)
    except OSError as error:
        raise NativeError(f"the native core cannot be written: {error}") from None
    return path


def compile_core(target: str, cpu: str, path: Path) -> None:
    """Writes the library for zig's `target` and `cpu` ("baseline" for any). Raises `NativeError`."""
    if not find_spec("ziglang"):
        raise NativeError("the compiler is not there: python -m pip install -r requirements.txt")
    # In a folder of its own, under a fixed name: macOS writes the name into the library, and another
    # process may be compiling the same just now.
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        command = [sys.executable, "-m", "ziglang", "cc", "-target", target, f"-mcpu={cpu}", *FLAGS]
        command += [f"-DSOURCE_HASH={source_hash():#x}ull", str(SOURCE), "-o", "core"]
        # The compiler's own caches here too: where it wants them may not be writable.
        environ = os.environ | {"ZIG_GLOBAL_CACHE_DIR": folder, "ZIG_LOCAL_CACHE_DIR": folder}
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder, env=environ)
        if done.returncode:
            raise NativeError(f"compiling {SOURCE.name} failed: {done.stderr.strip()[-2000:]}")
        os.replace(Path(folder, "core"), path)


def processor() -> str:
    """The baseline to compile for here: on Linux the best that the processor has.

    Elsewhere x86-64-v2, which Windows and macOS ask for, also where macOS translates for an arm64 processor.
    """
    if platform.machine() not in ("x86_64", "AMD64"):
        return "baseline"
    try:
        flags = set(Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split())
    except OSError:
        return "x86_64_v2"
    return next((name for name, needed in BASELINES.items() if needed <= flags), "baseline")


def cache_folder() -> Path:
    """A folder that can be written to: the user's cache, or one for this user among the temporary files."""
    for base in (os.environ.get("XDG_CACHE_HOME"), "~/.cache"):
        if base:
            try:
                folder = Path(base).expanduser() / "connectx-kit"
                folder.mkdir(parents=True, exist_ok=True)
            except (OSError, RuntimeError):  # not writable; a user without a home
                continue
            if os.access(folder, os.W_OK):
                return folder
    user = os.getuid() if hasattr(os, "getuid") else ""  # on Windows, temporary files are a user's own
    folder = Path(tempfile.gettempdir(), f"connectx-kit-{user}")
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if user != "" and (not S_ISDIR(status.st_mode) or status.st_uid != user or status.st_mode & 0o022):
        raise NativeError(f"{folder} is not this user's alone: others could leave a library there")
    return folder
