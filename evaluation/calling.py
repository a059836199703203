"""How Kaggle loads and calls an agent; shared by the referee and the process of an isolated agent.

It stands on the standard library alone, so that such a process is quick to start.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any

Agent = Callable[[Any, Any], Any]

MAX_LOG_LENGTH = 10_000
"""Characters kept of what an agent writes during one move, unless `maxLogLength` says otherwise."""


class Struct(dict[str, Any]):
    """A dictionary whose keys are attributes as well, as agents get it from Kaggle."""

    def __init__(self, **entries: Any) -> None:
        super().__init__(entries)
        self.__dict__.update(entries)

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__[name] = value
        self[name] = value


def fresh(value: Any) -> Any:
    """A copy for an agent to spoil: dictionaries become `Struct`, lists are copied, the rest is shared."""
    if isinstance(value, dict):
        return Struct(**{key: fresh(entry) for key, entry in value.items()})
    if isinstance(value, list):
        return [fresh(entry) for entry in value]
    return value


def arguments_taken(agent: Agent) -> int:
    """How many arguments Kaggle passes: both where there is no code object; none to `def agent(*args)`."""
    return int(getattr(getattr(agent, "__code__", None), "co_argcount", 2))


def call(
    agent: Agent, arguments: tuple[Any, ...], stream: Callable[[], StringIO] = StringIO
) -> tuple[Any, float, str]:
    """An agent's answer (or the exception it raised), the seconds it took, and what it wrote to stderr.

    Raises what is no `Exception`, such as SystemExit; also where the agent has closed a stream, as on
    Kaggle. `stream` makes those that stand in for stdout and stderr.
    """
    streams = sys.stdout, sys.stderr
    # Closed after every call, as on Kaggle: an agent that keeps sys.stderr for later fails there too.
    with stream() as out, stream() as err:
        sys.stdout, sys.stderr = out, err
        start = perf_counter()
        try:
            answer = agent(*arguments)
        except Exception as error:
            # From the agent's own frame on, which also leaves no reference cycle through this one.
            traceback.print_exception(error.with_traceback(_below(error)), file=err)
            answer = error
        finally:
            sys.stdout, sys.stderr = streams
        out.getvalue()  # fails where the agent has closed it, as on Kaggle
        written = err.getvalue()
    return answer, perf_counter() - start, written


def _below(error: Exception) -> TracebackType | None:
    return error.__traceback__.tb_next if error.__traceback__ else None


def deadline_errors() -> tuple[type[BaseException], ...]:
    """Kaggle's exception that stands for lateness, if anybody has imported it."""
    errors = sys.modules.get("kaggle_environments.errors")
    return (errors.DeadlineExceeded,) if errors else ()


def submission(source: str, path: str) -> Agent:
    """An agent that runs `source` on its first move, in the way of kaggle_environments/agent.py.

    An empty namespace (so no `__file__`, and `__name__` is "builtins"), the file's folder on `sys.path`
    while it runs, the last callable value in order of first binding, and arguments cut to what it takes.
    """
    loaded: list[Agent] = []

    def play(obs: Any, config: Any) -> Any:
        if not loaded:
            loaded.append(_last_callable(source, path))
        config["__raw_path__"] = path
        return loaded[0](*(obs, config)[: arguments_taken(loaded[0])])

    return play


def _last_callable(source: str, path: str) -> Agent:
    namespace: dict[str, Any] = {}
    sys.path.append(str(Path(path).parent))
    try:
        exec(compile(source, path, "exec"), namespace)
    finally:
        sys.path.pop()
    callables: list[Agent] = [value for value in namespace.values() if callable(value)]
    if not callables:
        raise NothingToCallError(
            f"{path} defines nothing that can be called: end it with def agent(obs, config)"
        )
    return callables[-1]


class NothingToCallError(ValueError):
    """A file without any function."""
