"""What an exception tells of the pitfall behind it, from the exception itself or from a printed traceback."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from textwrap import dedent

NO_NAME = re.compile(r"name '(\w+)' is not defined")
NO_FILE = re.compile(r"No such file or directory: (['\"])(.*)\1")
CALLED = re.compile(r"([\w.<>]+)\(\) (takes|missing|got) ")
NO_NETWORK = re.compile(r"gaierror|URLError|Connect(ion|Timeout)|MaxRetryError|NewConnectionError")

FRAME = re.compile(r'\s*File "(?P<file>[^"]*)", line (?P<line>\d+)(?:, in (?P<function>.*))?')
LAST_LINE = re.compile(r"(?P<kind>[A-Za-z_][\w.]*)(?:: (?P<message>.*))?$")
BARE = re.compile(
    r"(?P<kind>[\w.]*(?:Error|Exception|Exit|Interrupt|Exceeded|InvalidArgument))(?:: (?P<message>.*))?$"
)
RAW_PYTHON = re.compile(r"Invalid raw Python: (?P<kind>\w+)\((?P<message>.*)\)$")
"""How Kaggle reports an exception of loading."""
HARNESS = re.compile(
    r"kaggle_environments[/\\]|evaluation[/\\](calling|loading|referee|isolated_child|kaggle)\.py"
)
"""Files that call agents: Kaggle's and ours."""
LIBRARY = re.compile(r"[/\\\\](lib[/\\\\]python3|site-packages)|^<frozen|^<__array_function__")
LOADERS = ("get_last_callable", "_last_callable")


@dataclass(frozen=True)
class Raised:
    """An exception that ended a game.

    Attributes:
        kind: its class, without the module; empty where the traceback was cut off before it.
        message: its text.
        loading: whether it was raised while the file was loaded, not by the agent in a move.
        own: whether it passed through a line of the submission.
        place: the last such line, for a person.
        source: the text of that line.
        entry: the function that Kaggle called, empty if not known.
        starting: whether a program could not be started.
        environment: whether an environment variable was not there.
        reported: whether Kaggle, or this kit, has written the traceback, not the agent itself.
    """

    kind: str
    message: str
    loading: bool
    own: bool
    place: str = ""
    source: str = ""
    entry: str = ""
    starting: bool = False
    environment: bool = False
    reported: bool = False

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}" if self.message else self.kind or "a traceback that is cut off"


def causes(raised: Raised) -> list[str]:
    """The pitfalls an exception may come from, the likeliest first. The last always fits."""
    kind, message, loading = raised.kind, raised.message, raised.loading
    undefined = found[1] if kind == "NameError" and (found := NO_NAME.search(message)) else ""
    path = found[2] if kind == "FileNotFoundError" and (found := NO_FILE.search(message)) else os.sep
    cut = not kind
    no_module = (
        kind in ("ImportError", "ModuleNotFoundError")
        or (kind == "KeyError" and "__name__" in message)
        or (cut and raised.source.startswith(("import ", "from ")))
    )
    syntax = loading and kind in ("SyntaxError", "IndentationError", "TabError")
    called = found[1] if kind == "TypeError" and not raised.own and (found := CALLED.match(message)) else ""
    struct = "'Struct'" in message and raised.entry != "agent"
    answer = kind == "TypeError" and not raised.own and not loading  # about what the agent has answered
    fits = (
        ("dunder-file", undefined == "__file__"),
        ("notebook-magic", undefined == "get_ipython" or (syntax and raised.source.startswith(("%", "!")))),
        ("main-guard", undefined not in ("", "__file__", "get_ipython")),
        ("byte-order-mark", syntax and "U+FEFF" in message),
        ("not-utf8", syntax and "\ufffd" in raised.source),
        ("syntax-error", syntax),
        ("other-python", syntax or (loading and "cannot import name" in message)),
        ("exits", kind in ("SystemExit", "KeyboardInterrupt", "GeneratorExit")),
        ("out-of-memory", kind == "MemoryError"),
        ("import-inside-agent", no_module and not loading),
        ("module-not-found", no_module),
        ("foreign-package", kind == "ModuleNotFoundError"),
        ("pickles-own-class", kind == "PicklingError" or "Can't get attribute" in message),
        ("inspect-getsource", "is a built-in class" in message or "could not get source code" in message),
        ("kept-stream", "closed file" in message),
        ("relative-open", not (raised.starting or os.path.isabs(path)) or (cut and "open(" in raised.source)),
        ("needs-network", bool(NO_NETWORK.search(kind)) or "name resolution" in message),
        ("needs-files", kind == "PermissionError" or "Read-only file system" in message),
        ("needs-environment", raised.environment),
        ("no-callable", loading and kind in ("IndexError", "NothingToCallError") and not raised.own),
        ("cached-agent", "unhashable type: 'Struct'" in message),
        ("star-args", kind == "ValueError" and "(expected 2, got 0)" in message),
        ("one-argument-call", called.endswith(".__call__")),
        ("agent-not-last", bool(called) and called != "agent" and not called.endswith(".__call__")),
        ("wrong-argument-count", bool(called)),
        ("returns-numpy", answer and "not numpy.float" in message),
        ("returns-float", answer and message.endswith("not float")),
        ("generator-or-coroutine", answer and bool(re.search("'(generator|coroutine)' object", message))),
        ("returns-wrong-type", answer and "cannot pickle" in message),
        ("times-out", kind == "DeadlineExceeded"),
        ("agent-not-last", struct and "unhashable" not in message),
        ("main-guard", struct and "unhashable" not in message),
        ("load-error" if loading else "raises-exception", True),
    )
    return list(dict.fromkeys(name for name, fit in fits if fit))


def last_raised(text: str) -> Raised | None:
    """The exception that a log's or a terminal's text ends with, or the only line of it; None without one.

    Where Kaggle reports an exception of loading within its own, it is that of loading.
    """
    if "\\n" in text and 'File \\"' in text:  # a piece of JSON
        text = text.replace("\\n", "\n").replace('\\"', '"').rstrip('"}], \n')
    tracebacks = _tracebacks(dedent(text))
    if not tracebacks:
        return None
    if len(tracebacks) > 1 and tracebacks[-2].is_loading and not tracebacks[-1].kind:
        tracebacks.pop()
    last = tracebacks[-1]
    wrapped = RAW_PYTHON.search(last.message)
    if not wrapped:
        return last.raised(loading=last.is_loading)
    inner = next((each for each in tracebacks[:-1][::-1] if each.kind.endswith(wrapped["kind"])), None)
    if inner is None:
        message = re.sub(r"^([\"'])(.*)\1,?$", r"\2", wrapped["message"])
        inner = _Traceback(wrapped["kind"], message, [])
    return inner.raised(loading=True)


@dataclass
class _Frame:
    file: str
    line: str
    function: str
    source: str = ""


@dataclass
class _Traceback:
    """One of the tracebacks in a text."""

    kind: str
    message: str
    frames: list[_Frame]

    @property
    def is_loading(self) -> bool:
        return any(frame.function in LOADERS for frame in self.frames)

    def raised(self, loading: bool) -> Raised:
        """What is to be known of it."""
        harness = [number for number, frame in enumerate(self.frames) if HARNESS.search(frame.file)]
        below = self.frames[harness[-1] + 1 :] if harness else self.frames
        own = [frame for frame in below if frame.file == below[0].file and not LIBRARY.search(frame.file)]
        last = self.frames[-1].file.replace("\\", "/") if self.frames else ""
        return Raised(
            kind=self.kind.rpartition(".")[2],
            message=self.message,
            loading=loading,
            own=bool(own),
            place=f"line {own[-1].line}: {own[-1].source}".rstrip(": ") if own else "",
            source=own[-1].source if own else "",
            entry=own[0].function if own and harness and not loading else "",
            starting=last.endswith("/subprocess.py"),
            environment=self.kind == "KeyError" and last == "<frozen os>",
            reported=bool(harness),
        )


def _tracebacks(text: str) -> list[_Traceback]:
    """All tracebacks of a text, or else the exceptions that stand alone on a line."""
    found = list[_Traceback]()
    frames: list[_Frame] | None = None
    lines = text.splitlines()
    for line in lines:
        if "Traceback (most recent call last)" in line:
            frames = []
        elif frames is None:
            continue
        elif match := FRAME.match(line):
            frames.append(_Frame(match["file"], match["line"], match["function"] or ""))
        elif line.startswith(" "):
            if frames and not frames[-1].source:
                frames[-1].source = line.strip()
        elif match := LAST_LINE.match(line):
            found.append(_Traceback(match["kind"], match["message"] or "", frames))
            frames = None
    if frames is not None:
        found.append(_Traceback("", "", frames))
    alone = (match for line in lines if (match := BARE.match(line.strip())))
    return found or [_Traceback(match["kind"], match["message"] or "", []) for match in alone]
