"""Agents that may be hostile or broken, each in a process of its own for each game.

    with open_agent("main.py") as agent:
        record = play_game([agent, load_agent("n_step")])

Such a process has a deadline, limits of memory, files, output and processes (`evaluation.isolated_child`
has the figures), an environment without secrets, and no descriptor of ours. Whatever it does ends its game
with an `Ending` of its own, and at the end of the `with` statement nothing of it runs any more.

On Linux with user namespaces it also sees no other process, has no network and can write only to a folder
in memory that ends with the game. `shortfall` says where that is not so. It is no defence against
somebody who knows a hole in the kernel; agents can read what the person who runs them can read.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import Any, NoReturn

from evaluation.calling import MAX_LOG_LENGTH, Agent
from evaluation.errors import InputError
from evaluation.loading import is_file, load_agent, parse_spec, read_submission
from evaluation.records import Ending
from evaluation.referee import AgentLostError, LateError, RemoteAgent

CHILD = Path(__file__).with_name("isolated_child.py")
KEPT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH")
"""What the environment of agents has of ours."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
START_SECONDS = 60.0
MARGIN = 1.0
"""Seconds past its time and bank after which an agent that has not answered is ended."""
TRUST = 0.05
"""Seconds by which the clock of the agent's process may differ from ours before it is not believed."""
END_SECONDS = 20.0
FRAME = 1 << 20
"""Bytes that an answer may have, with what was written."""
LOST = {"crash": Ending.CRASH, "memory": Ending.MEMORY, "output": Ending.OUTPUT}
AVAILABLE = hasattr(os, "fork") and hasattr(socket, "send_fds")

LACKING = {
    "namespaces": "write files, reach the network and see other processes (no namespaces)",
    "processes": "start any number of processes",
    "memory": "take any amount of memory",
}
"""What agents can do where the process they are forked from (`evaluation.isolated_child`) says so."""
NOT = "agents' files run in this process: isolating them needs Linux or macOS"


@contextmanager
def open_agent(spec: str, seed: int | None = None) -> Iterator[Agent]:
    """The agent of a file's spec in a process of its own, for one game; at the end it is gone.

    Its answers are those of `load_agent(spec)`, and the exceptions it raises; the fast referee takes the
    time of its moves from there. What `load_agent` cannot survive raises `AgentLostError`. The process's
    global random generators are seeded. On Windows it is `load_agent(spec)`.

    Raises `SpecError` for a file that cannot be read, `InputError` where no process can be started.
    """
    if not AVAILABLE:
        yield load_agent(spec)
        return
    source, path = read_submission(spec)
    channel, control = _server().start("numpy" in source)
    agent = _IsolatedAgent(channel, control)
    try:
        agent.send({"source": source, "path": path, "seed": seed})
        yield agent
    finally:
        agent.close()


def needs_isolation(agent: str | Agent) -> bool:
    """Whether it is given as a file: agents of the kit and of Kaggle are trusted, and so are callables."""
    return isinstance(agent, str) and is_file(parse_spec(agent)[0])


def shortfall() -> str | None:
    """What isolation lacks on this system, in a line; None where it is complete. Starts the server."""
    if not AVAILABLE:
        return NOT
    if not (lacking := _server().lacking):
        return None
    can = "; ".join(LACKING[each] for each in lacking)
    return f"agents' files run in processes of their own, but on this system they can {can}"


class _IsolatedAgent(RemoteAgent):
    """The near end of an agent's process: `channel` for its answers, `control` for that of its keeper."""

    def __init__(self, channel: socket.socket, control: socket.socket) -> None:
        self.channel = channel
        self.control = control
        self.is_ready = False
        self.number = 0
        self.lost: AgentLostError | None = None

    def ask(self, obs: Any, config: Any) -> tuple[Any, float, str]:
        """The answer or exception, the seconds, and what was written. Raises `AgentLostError`."""
        if self.lost:
            raise self.lost
        if not self.is_ready:
            self._answer(perf_counter() + START_SECONDS)
            self.is_ready = True
        start = perf_counter()
        if _readable(0.0, self.channel):
            self._lose(Ending.CHANNEL, start, "it had sent something before it was asked")
        self.number += 1
        self.send([obs, config, self.number])
        reply = self._answer(start + config["actTimeout"] + obs["remainingOverageTime"] + MARGIN, start)
        outside = perf_counter() - start
        try:
            kind, value, inside, written, number = reply
            if number != self.number:
                raise ValueError(number)
            written = str(written)[: config.get("maxLogLength", MAX_LOG_LENGTH)]
            if kind in LOST:
                self._lose(LOST[kind], start, written)
            return _answer(kind, value), max(float(inside), outside - TRUST), written
        except (ValueError, TypeError, OverflowError):
            self._lose(Ending.CHANNEL, start, f"its answer is none: {str(reply)[:200]}")

    def send(self, message: Any) -> None:
        """A message to the process; if that has ended, the answer tells."""
        data = json.dumps(message).encode()
        with suppress(OSError):
            self.channel.settimeout(START_SECONDS)
            self.channel.sendall(len(data).to_bytes(4, "big") + data)

    def _answer(self, deadline: float, start: float | None = None) -> Any:
        """The next message of the process."""
        start = perf_counter() if start is None else start
        size = int.from_bytes(self._read(4, deadline, start), "big")
        if size > FRAME:
            self._lose(Ending.CHANNEL, start, f"it announced an answer of {size} bytes")
        data = self._read(size, deadline, start)
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            self._lose(Ending.CHANNEL, start, f"its answer is none: {data[:200]!r}")

    def _read(self, size: int, deadline: float, start: float) -> bytes:
        data = b""
        while len(data) < size:
            ready = _readable(deadline - perf_counter(), self.channel, self.control)
            if not ready:
                self._lose(Ending.TIMEOUT, start, "it has not answered and was ended")
            part = b""
            if self.channel in ready:
                with suppress(OSError):
                    part = self.channel.recv(size - len(data))
            if not part:
                self._lose(None, start)
            data += part
        return data

    def _lose(self, ending: Ending | None, start: float, text: str = "") -> NoReturn:
        """Ends the process and raises why; what its keeper reports if `ending` is not known."""
        seconds = () if ending is Ending.CRASH else (round(perf_counter() - start, 6),)
        if ending is None:
            _readable(1.0, self.control)  # of a process that ends it comes at once
        what, value, output = self._finish()
        if ending is None:
            ending, text = _why(what, value)
        line = text if ending is Ending.CRASH else f"the agent's process: {text or ending}\n"
        self.lost = AgentLostError(ending, seconds, output + line)
        raise self.lost

    def _finish(self) -> tuple[str, int, str]:
        """Ends everything of the game; the report of its keeper."""
        data = b""
        with suppress(OSError):
            self.control.shutdown(socket.SHUT_WR)
            while _readable(END_SECONDS, self.control) and (part := self.control.recv(1 << 16)):
                data += part
        try:
            what, value, output = json.loads(data)
            return str(what), int(value), str(output)
        except (ValueError, TypeError):
            return "", 0, ""

    def close(self) -> None:
        """Ends everything of the game."""
        if not self.lost:
            self._finish()
        self.channel.close()
        self.control.close()


def _answer(kind: Any, value: Any) -> Any:
    """What the agent answered, or an exception for one that it raised. Raises ValueError for neither."""
    match kind:
        case "none":
            return None
        case "int":
            return int(value, 16)
        case "float":
            return float(value)
        case "other":
            return "something that is no number"
        case "error":
            return RuntimeError("the agent raised an exception")
        case "late":
            return LateError()
    raise ValueError(kind)


def _why(what: str, value: int) -> tuple[Ending, str]:
    """The ending that a keeper's report stands for, and a word about it."""
    if what == "status" and value < 0:
        with suppress(ValueError):
            return Ending.SIGNAL, f"ended by {signal.Signals(-value).name}"
        return Ending.SIGNAL, f"ended by signal {-value}"
    if what == "status":
        return Ending.EXIT, f"it has ended with exit status {value}"
    if what in ("processes", "memory", "output"):
        return Ending(what), f"it passed its limit of {what}"
    return Ending.CHANNEL, "it closed the channel for its answers"


def _readable(timeout: float, *sockets: socket.socket) -> list[socket.socket]:
    return select.select(sockets, [], [], max(0.0, timeout))[0]


class _Server:
    """The process from which games are forked (`evaluation.isolated_child`). It ends with this one."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.lock = threading.Lock()
        self.socket, theirs = socket.socketpair()
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        environment |= dict.fromkeys(THREADS, "1")
        with theirs:
            try:
                self.process = subprocess.Popen(
                    [sys.executable, "-I", "-B", str(CHILD), str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    env=environment,
                    cwd="/",
                    start_new_session=True,  # Ctrl-C is ours
                )
            except OSError as error:
                self.socket.close()
                raise InputError(f"{sys.executable} cannot be started for agents' files: {error}") from None
        self.socket.settimeout(START_SECONDS)
        try:
            hello = self.socket.recv(100)
        except OSError:
            hello = b""
        if not hello:
            self.close()
            raise InputError("no process could be started for agents' files; --trust runs them in this one")
        self.lacking = hello.decode().split()

    def start(self, numpy: bool) -> tuple[socket.socket, socket.socket]:
        """Begins a game: its channel and its control."""
        channel, theirs = socket.socketpair()
        control, keepers = socket.socketpair()
        with theirs, keepers, self.lock:
            descriptors = [theirs.fileno(), keepers.fileno()]
            socket.send_fds(self.socket, [b"n" if numpy else b"-"], descriptors)
        return channel, control

    def close(self) -> None:
        """Ends the process; games under way end with their descriptors."""
        self.socket.close()
        self.process.kill()
        self.process.wait()


_servers: list[_Server] = []
_starting = threading.Lock()


def _server() -> _Server:
    """The server of this process, started now or anew if it is not running."""
    with _starting:
        if _servers and _servers[0].owner == os.getpid() and _servers[0].process.poll() is None:
            return _servers[0]
        _close_server()
        _servers.append(_Server())
        return _servers[0]


def _close_server() -> None:
    while _servers:
        server = _servers.pop()
        if server.owner == os.getpid():
            server.close()


atexit.register(_close_server)
