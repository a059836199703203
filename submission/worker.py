"""The parent's side of `submission.child`: starts it, asks it, and ends it when it does not answer."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, Self

CHILD = Path(__file__).with_name("child.py")
KEPT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "SYSTEMROOT", "WINDIR")
START_SECONDS = 120.0
"""How long starting may take: importing kaggle_environments, on a machine that is busy."""
PERIOD = 0.05
"""Seconds in which a child with half of a processor is once stopped and once let go."""

Event = dict[str, Any]


class WorkerLostError(Exception):
    """The child has ended or did not answer in time.

    Attributes:
        hung: whether it was ended because no event came.
        last: the last event it sent.
        status: its exit status, negative for a signal; None if it hung.
        stderr: the last of what it wrote.
    """

    def __init__(self, hung: bool, last: Event, status: int | None, stderr: str) -> None:
        super().__init__("no answer" if hung else stderr.rpartition("\n")[2] or f"exit status {status}")
        self.hung = hung
        self.last = last
        self.status = status
        self.stderr = stderr


class Worker:
    """A child process that answers requests. Use it in a `with` statement, at whose end it is killed.

    Args:
        setup: the first request (see `submission.child`).
        folder: where it has its empty working directory and its home, with no way back to the kit.
        patience: seconds without an event after which it is lost.
        python: the interpreter, the running one if not given.

    Its environment holds little more than PATH: no thread limits, no PYTHONPATH.
    """

    def __init__(
        self, setup: Mapping[str, Any], folder: Path, patience: float, python: Path | None = None
    ) -> None:
        home = folder / "work"
        home.mkdir(exist_ok=True)
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        environment |= dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP"), str(folder))
        self.patience = patience
        self.last: Event = {}
        self.ended = threading.Event()
        self.process = subprocess.Popen(
            [python or sys.executable, "-I", "-B", str(CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=home,
            env=environment,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # Ctrl-C reaches the check alone, and the child's children end with it
        )
        self.events: queue.Queue[Event | None] = queue.Queue()
        self.stderr: deque[str] = deque(maxlen=20)
        self.readers = [
            threading.Thread(target=self._read_events, args=(self.process.stdout,), daemon=True),
            threading.Thread(target=self._read_stderr, args=(self.process.stderr,), daemon=True),
        ]
        for reader in self.readers:
            reader.start()
        self._send(setup)
        try:
            self._result(START_SECONDS, None)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, do: str, on_event: Callable[[Event], None] | None = None, **arguments: Any) -> Event:
        """The result of a request; `on_event` hears of every move. Raises `WorkerLostError`."""
        self.last = {}
        self._send({"do": do, **arguments})
        return self._result(self.patience, on_event)

    def halve(self) -> str | None:
        """Give the child half of the time from now on, as a quota of processor time does; how that is done.

        None where processes cannot be stopped, as on Windows.
        """
        if not hasattr(signal, "SIGSTOP"):
            return None
        threading.Thread(target=self._stop_and_go, daemon=True).start()
        return f"stopping it for {1000 * PERIOD / 2:g} of every {1000 * PERIOD:g} ms"

    def _stop_and_go(self) -> None:
        for order in itertools.cycle((signal.SIGSTOP, signal.SIGCONT)):
            if self.ended.wait(PERIOD / 2):
                return
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, order)

    def close(self) -> None:
        """End the child and whatever it has started."""
        self.ended.set()
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        for reader in self.readers:
            reader.join(1)  # a grandchild in another session may hold a pipe open
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]

    def _send(self, request: Mapping[str, Any]) -> None:
        assert self.process.stdin
        with contextlib.suppress(OSError):  # it has ended, which `_result` will tell
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()

    def _result(self, patience: float, on_event: Callable[[Event], None] | None) -> Event:
        while True:
            try:
                event = self.events.get(timeout=patience)
            except queue.Empty:
                raise WorkerLostError(True, self.last, None, self._last_words()) from None
            if event is None:
                raise WorkerLostError(False, self.last, self.process.wait(), self._last_words())
            if event["event"] == "result":
                return event
            self.last = event
            if on_event:
                on_event(event)

    def _last_words(self) -> str:
        self.readers[1].join(0.2)
        return "".join(self.stderr).strip()

    def _read_events(self, pipe: IO[str]) -> None:
        for line in pipe:
            self.events.put(json.loads(line))
        self.events.put(None)

    def _read_stderr(self, pipe: IO[str]) -> None:
        while text := pipe.read(4096):  # not by lines: what is read may have none
            self.stderr.append(text)
