"""The process from which those of isolated agents are forked. `evaluation.isolation` is its other side.

Started once as `python -I -B evaluation/isolated_child.py DESCRIPTOR`, it imports nothing of an agent, so
each game begins from the same state within milliseconds:

    server      this process; for every game it forks a
    guard       waits for the keeper and ends what it may have left; forks a
    keeper      the first process of a PID namespace: with it everything in there ends. It counts the
                processes, their memory and what they write, and reports why it has ended. It forks the
    agent       answers on the descriptor 3, without privileges and within limits

Where the kernel allows it there are namespaces: of processes, mounts (all read-only but /dev/shm, which is
the game's own), network (none) and users. Elsewhere the guard looks for descendants and ends them. Standard
library only.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import select
import shutil
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from functools import partial
from io import StringIO
from mmap import mmap
from operator import index
from pathlib import Path
from time import monotonic, sleep
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from evaluation import calling
else:
    sys.path.insert(0, str(Path(__file__).parent))
    import calling

    del sys.path[0], sys.modules["calling"]  # an agent may have a module of that name

resource: ModuleType | None
try:
    import resource
except ImportError:
    resource = None

ADDRESS_SPACE = 2 << 30
"""Bytes that one process may map."""
MEMORY = 3 << 30
"""Bytes in memory of all processes of a game."""
FILES = 256 << 20
"""Bytes that its files may hold."""
OUTPUT = 64 << 20
"""Characters or bytes that it may write to its standard streams."""
PROCESSES = 16
"""How many processes it may have at once."""
KEPT = 10_000
"""Bytes of what was written past Python's streams that a report holds, from the end."""
PERIOD = 0.05
"""Seconds between two counts of processes; ten times that where all of the machine's are looked through."""

LONGEST = 1 << 16
"""Bits of the longest number that is passed on."""
FOLDER = "/dev/shm"
"""What is the working directory, where there are namespaces."""
CHANNEL = 3
CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER = 0x20000, 0x8000000, 0x10000000
CLONE_NEWPID, CLONE_NEWNET = 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REC, MS_PRIVATE = 1, 2, 4, 0x4000, 0x40000
MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE, MOUNT_ATTR_RDONLY = 442, -100, 0x8000, 1
PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 4, 24, 36, 38
CAPABILITIES = 64
CAPABILITY_VERSION = 0x20080522

LINUX = sys.platform == "linux"
PAGE = os.sysconf("SC_PAGE_SIZE") if LINUX else 4096
libc: Any = ctypes.CDLL(None, use_errno=True) if LINUX else None


def main(descriptor: int) -> None:
    """Forks a game for every byte that comes with two descriptors, until the parent is gone."""
    server = socket.socket(fileno=descriptor)
    spaces = LINUX and _in_child(_try_namespaces) and _enter_spaces()
    if LINUX:
        libc.prctl(PR_SET_DUMPABLE, 0)  # agents neither read nor trace what comes before them
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for guards
    server.sendall(" ".join(_lacking(spaces)).encode() + b"\n")
    while True:
        message, descriptors, _, _ = socket.recv_fds(server, 1, 2)
        if len(descriptors) < 2:
            return
        if message == b"n":
            with suppress(ImportError):
                import numpy.random  # noqa: F401
        if os.fork() == 0:
            server.close()
            _to_the_end(partial(guard, descriptors[0], descriptors[1], spaces))
        for each in descriptors:
            os.close(each)


def guard(channel: int, control: int, spaces: bool) -> None:
    """Runs one game's keeper to its end; what it leaves running or lying about is ended and removed."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if spaces:
        _check(libc.unshare(CLONE_NEWPID | CLONE_NEWNS))
    elif LINUX:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    folder = FOLDER if spaces else tempfile.mkdtemp(prefix="agent-")
    pid = os.fork()
    if pid == 0:
        _to_the_end(lambda: Keeper(channel, control, folder, spaces).watch())
    os.close(channel)
    os.waitpid(pid, 0)
    if not spaces:
        _end_descendants()
        shutil.rmtree(folder, ignore_errors=True)


class Keeper:
    """Starts the agent's process and watches it, for the parent at the descriptor `control`."""

    def __init__(self, channel: int, control: int, folder: str, spaces: bool) -> None:
        self.control = control
        self.spaces = spaces
        self.written = 0
        self.tail = b""
        if spaces:
            _mount_own()
        elif LINUX:
            libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
        self.output, theirs = os.pipe()
        self.wake, wake = os.pipe()
        self.agent = os.fork()
        if self.agent == 0:
            _to_the_end(lambda: _agent(channel, theirs, folder))
        os.close(channel)
        os.close(theirs)
        for each in (self.output, self.wake, wake):
            os.set_blocking(each, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def watch(self) -> None:
        """Until the parent wants no more, the agent's process ends or a limit is passed."""
        period = PERIOD if self.spaces else 10 * PERIOD
        due = monotonic()
        descriptors = [self.control, self.output, self.wake]
        while True:
            ready, _, _ = select.select(descriptors, [], [], max(0.0, due - monotonic()))
            if self.output in ready and not self._read():
                descriptors.remove(self.output)
            self._reap()
            if self.control in ready:
                self._report("end")
            if self.wake in ready:
                os.read(self.wake, 4096)
            if monotonic() >= due:
                self._count()
                due = monotonic() + period

    def _read(self) -> bool:
        """Takes what was written; False when nobody is left who could write."""
        try:
            data = os.read(self.output, 1 << 16)
        except BlockingIOError:
            return True
        self.written += len(data)
        self.tail = (self.tail + data)[-KEPT:]
        if self.written > OUTPUT:
            self._report("output")
        return bool(data)

    def _reap(self) -> None:
        """Lets go of processes that have ended; reports if it is the agent's."""
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == self.agent:
                    before = -1
                    while before != self.written:  # what lies in the pipe
                        before = self.written
                        self._read()
                    self._report("status", os.waitstatus_to_exitcode(status))
                if not pid:
                    return

    def _count(self) -> None:
        processes = list(_descendants(os.getpid()))
        if len(processes) > PROCESSES:
            self._report("processes")
        if sum(map(_resident, processes)) > MEMORY:
            self._report("memory")

    def _report(self, what: str, value: int = 0) -> NoReturn:
        text = self.tail.decode(errors="replace")
        with suppress(OSError):
            os.write(self.control, json.dumps([what, value, text]).encode())
        os._exit(0)


def _agent(channel: int, output: int, folder: str) -> None:
    """The agent's own process: prepares it, and answers until it is ended."""
    os.setsid()
    os.dup2(output, 1)
    os.dup2(output, 2)
    channel = os.dup2(channel, CHANNEL) if channel != CHANNEL else channel
    os.closerange(CHANNEL + 1, os.sysconf("SC_OPEN_MAX"))
    os.set_inheritable(CHANNEL, False)
    os.chdir(folder)
    os.environ.update(dict.fromkeys(("HOME", "TMPDIR"), folder))
    _limit()
    if LINUX:
        _drop_privileges()
    Session(channel).serve()


class Session:
    """Answers requests about one agent: frames of JSON, each after its length in four bytes."""

    def __init__(self, channel: int) -> None:
        self.channel = channel
        setup = self._receive()
        random.seed(setup["seed"])
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(setup["seed"] and setup["seed"] % 2**32)
        self.agent = calling.submission(setup["source"], setup["path"])
        self.written = 0
        self.number = 0
        self._send(["ready"])

    def serve(self) -> None:
        """One answer for each request, `[observation, configuration, number]`; the number comes back."""
        while (request := self._receive()) is not None:
            obs, config = map(calling.fresh, request[:2])
            self.number = request[2]
            limit = config.get("maxLogLength", calling.MAX_LOG_LENGTH)
            try:
                answer, seconds, written = calling.call(
                    self.agent, (obs, config), partial(Bounded, limit, self._count)
                )
                self._send([*_told(answer), seconds, written[:limit], self.number])
            except BaseException:
                self._send(["crash", None, 0.0, traceback.format_exc(), self.number])

    def _count(self, characters: int) -> None:
        self.written += characters
        if self.written > OUTPUT:
            self._send(["output", None, 0.0, "", self.number])
            os._exit(1)

    def _receive(self) -> Any:
        size = int.from_bytes(self._read(4), "big")
        return json.loads(self._read(size)) if size else None

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size and (part := os.read(self.channel, size - len(data))):
            data += part
        return data

    def _send(self, reply: list[Any]) -> None:
        data = json.dumps(reply).encode()
        data = len(data).to_bytes(4, "big") + data
        while data:
            data = data[os.write(self.channel, data) :]


class Bounded(StringIO):
    """A stream that keeps the first `limit` characters written, and tells how many there are."""

    def __init__(self, limit: int, count: Callable[[int], None]) -> None:
        super().__init__()
        self.left = limit
        self.count = count

    def write(self, text: str, /) -> int:
        """As of any text stream."""
        self.count(len(text))
        super().write(text[: self.left])
        self.left = max(0, self.left - len(text))
        return len(text)


def _told(answer: Any) -> tuple[str, Any]:
    """An answer in JSON. Raises what the copy that Kaggle makes of it raises."""
    if isinstance(answer, BaseException):
        late = isinstance(answer, calling.deadline_errors())
        return "memory" if isinstance(answer, MemoryError) else "late" if late else "error", None
    match deepcopy(answer):
        case None:
            return "none", None
        case int() as number if not isinstance(number, bool):
            number = index(number)
            # The referee finds the same wrong with all that have more than 4300 digits.
            return "int", hex(number if number.bit_length() < LONGEST else 1 << LONGEST if number > 0 else -1)
        case float() as number:
            return "float", float(number)
    return "other", None


def _limit() -> None:
    if resource is None:
        return
    limits = {"RLIMIT_AS": ADDRESS_SPACE, "RLIMIT_FSIZE": FILES, "RLIMIT_CORE": 0}
    for name, value in limits.items():
        with suppress(AttributeError, ValueError, OSError):  # macOS has no limit of memory
            resource.setrlimit(getattr(resource, name), (value, value))


def _drop_privileges() -> None:
    """No capabilities, not even in the namespace of users, and none to be had from other programs."""
    for capability in range(CAPABILITIES):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    libc.capset(header, (ctypes.c_uint32 * 6)())
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(PR_SET_DUMPABLE, 1)


def _enter_spaces() -> bool:
    """Namespaces for all games: users, mounts (read-only), network, shared memory. Raises OSError."""
    shared = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC
    uid, gid = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWUSER | shared) == 0:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    else:
        _check(libc.unshare(shared))
    _check(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
    attributes = (ctypes.c_uint64 * 4)(MOUNT_ATTR_RDONLY, 0, 0, 0)
    size = ctypes.sizeof(attributes)
    _check(libc.syscall(MOUNT_SETATTR, AT_FDCWD, b"/", AT_RECURSIVE, ctypes.byref(attributes), size))
    return True


def _mount_own() -> None:
    """The game's own /proc, and the one folder where it can write. Raises OSError."""
    flags = MS_NOSUID | MS_NODEV
    _check(libc.mount(b"proc", b"/proc", b"proc", flags | MS_RDONLY, None))
    _check(libc.mount(b"tmpfs", FOLDER.encode(), b"tmpfs", flags, f"size={FILES},mode=700".encode()))


def _lacking(spaces: bool) -> Iterator[str]:
    """What of the isolation this system does not give."""
    counts = os.getpid() in _descendants(os.getppid())
    if not spaces:
        yield "namespaces"
    if not counts:
        yield "processes"
    if not counts and not _in_child(_try_memory):
        yield "memory"


def _try_memory() -> None:
    """Raises `PermissionError` if an agent's process can take more memory than it may."""
    _limit()
    try:
        mmap(-1, ADDRESS_SPACE + PAGE).close()
    except (OSError, ValueError, MemoryError):
        return
    raise PermissionError


def _try_namespaces() -> None:
    """All that is done for a game, to see whether the kernel allows it. Raises OSError."""
    _enter_spaces()
    _check(libc.unshare(CLONE_NEWPID | CLONE_NEWNS))
    if not _in_child(_mount_own):
        raise PermissionError


def _in_child(function: Callable[[], Any]) -> bool:
    """Whether a function succeeds in a process of its own."""
    pid = os.fork()
    if pid == 0:
        with suppress(Exception):
            function()
            os._exit(0)
        os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _to_the_end(function: Callable[[], Any]) -> NoReturn:
    """The rest of a forked process: nothing of its parent's is run in it at exit."""
    try:
        function()
    except BaseException:
        os.write(2, traceback.format_exc().encode(errors="replace"))
        os._exit(1)
    os._exit(0)


def _descendants(root: int) -> Iterator[int]:
    """The processes that stem from `root`, as /proc tells; none without it."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc") if LINUX else ():
        if entry.isdecimal():
            with suppress(OSError):
                state, parent = (
                    Path(f"/proc/{entry}/stat").read_text("latin-1").rpartition(")")[2].split()[:2]
                )
                if state != "Z":
                    children.setdefault(int(parent), []).append(int(entry))
    waiting = children.get(root, [])
    while waiting:
        pid = waiting.pop()
        yield pid
        waiting += children.get(pid, [])


def _resident(pid: int) -> int:
    """The bytes of a process in memory."""
    try:
        return PAGE * int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0


def _end_descendants() -> None:
    """Ends all that stems from this process. Whatever loses its parent becomes a child of this one."""
    deadline = monotonic() + 5
    while monotonic() < deadline and (left := list(_descendants(os.getpid()))):
        for pid in left:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        sleep(0.01)


if __name__ == "__main__":
    main(int(sys.argv[1]))
