"""Restrictions that a process puts on itself before it runs a submission. It needs no rights of root.

Loaded by `submission.child` on any Python from 3.10 on, so it stands on the standard library alone. Where
the kernel allows a user namespace, the network and all writing to files end there, for compiled code and
child processes too. Elsewhere audit hooks refuse what Python is asked for; the report says which it was.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x20000, 0x10000000, 0x40000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE, MOUNT_ATTR_RDONLY = 442, -100, 0x8000, 1

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate"}
CONNECTIONS = {"socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"}
LOOKUPS = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}

How = dict[str, tuple[bool, str]]


def impose(names: Sequence[str], modules: Sequence[str] = (), kernel: bool = True) -> How:
    """Put the restrictions `names` on this process, for good.

    Args:
        names: of "network" (none), "files" (no writing), "memory-files" (no os.memfd_create), "modules" (the
            standard library, numpy and `modules` only), "environment" (empty). Others are left to the caller.
        modules: the submission's own, packed beside it.
        kernel: whether to ask the kernel first.

    Returns, for each restriction, whether it binds compiled code and child processes too, and how it was
    made. It has to be called before there are other threads.
    """
    how: How = {}
    spaces = {"network": CLONE_NEWNET, "files": CLONE_NEWNS}
    wanted = [name for name in spaces if name in names]
    by_kernel = kernel and _unshare(sum(spaces[name] for name in wanted))
    if "network" in names:
        how["network"] = (True, "a network namespace") if by_kernel else _hooked(_refuse_network)
    if "files" in names:
        read_only = by_kernel and _mount_read_only()
        how["files"] = (True, "read-only mounts") if read_only else _hooked(_refuse_writing)
    if "memory-files" in names:
        os.memfd_create = _no_memory_files  # type: ignore[assignment]
        how["memory-files"] = (False, "replacing os.memfd_create")
    if "modules" in names:
        sys.meta_path.insert(0, _Modules(modules))
        how["modules"] = (True, "an import hook")
    if "environment" in names:
        os.environ.clear()
        how["environment"] = (True, "clearing os.environ")
    return how


def _hooked(hook: Callable[[str, tuple[Any, ...]], None]) -> tuple[bool, str]:
    sys.addaudithook(hook)
    return False, "an audit hook of Python"


def _unshare(spaces: int) -> bool:
    """Whether the process now has these namespaces of its own: as root, or with one of users as well."""
    unshare = _function("unshare")
    users = (0, CLONE_NEWUSER)
    return bool(spaces) and unshare is not None and any(unshare(user | spaces) == 0 for user in users)


def _mount_read_only() -> bool:
    """Make every mount of this mount namespace read-only (mount_setattr(2), Linux 5.12)."""
    mount, syscall = _function("mount"), _function("syscall")
    if mount is None or syscall is None or mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None):
        return False
    attributes = (ctypes.c_uint64 * 4)(MOUNT_ATTR_RDONLY, 0, 0, 0)
    size = ctypes.sizeof(attributes)
    return not syscall(MOUNT_SETATTR, AT_FDCWD, b"/", AT_RECURSIVE, ctypes.byref(attributes), size)


def _function(name: str) -> Callable[..., Any] | None:
    """A function of the C library, on Linux."""
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None


def _refuse_network(event: str, args: tuple[Any, ...]) -> None:
    reaches_out = event in CONNECTIONS and isinstance(args[1], tuple)  # a Unix socket has a path instead
    if reaches_out or event in LOOKUPS:
        raise OSError(errno.ENETUNREACH, os.strerror(errno.ENETUNREACH))


def _refuse_writing(event: str, args: tuple[Any, ...]) -> None:
    if event == "open":
        path, _, flags = args
        writes = isinstance(path, str | bytes) and flags & WRITING and not _is_device(os.fsdecode(path))
    else:
        path, writes = args[0] if args else "", event in CHANGES
    if writes:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)


def _is_device(path: str) -> bool:
    if path.startswith("/dev/shm"):
        return False
    return path == os.devnull or path.startswith(("/dev/", "/proc/"))


def _no_memory_files(*_: object) -> int:
    raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))


class _Modules:
    """Finds no module but those of the standard library, of numpy and of the submission itself."""

    def __init__(self, modules: Sequence[str]) -> None:
        self.allowed = {*sys.stdlib_module_names, "numpy", *modules}

    def find_spec(
        self, name: str, _path: object = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None for what others may find."""
        if name.partition(".")[0] in self.allowed:
            return None
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
