"""The process in which the check runs a submission. It only observes; `submission.check` judges.

Started as `python -I submission/child.py`, it sees the standard library and the installed packages, and
nothing of the kit. Each line on its standard input is a request, each line on its standard output an
event, both JSON; a request ends with the event "result". The event "move" comes before every call of an
agent, so that the parent knows what went on when no more events come.
"""

from __future__ import annotations

import copy
import faulthandler
import gc
import importlib
import importlib.util
import inspect
import io
import json
import math
import os
import random
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any, TextIO

Agent = Callable[[Any, Any], Any]
Request = dict[str, Any]
MOVE_SECONDS = 0.05
"""What a move is to take, about, while the clock is replaced."""


class Wire:
    """The two ends of the conversation, out of reach of what the submission reads and prints."""

    def __init__(self) -> None:
        self.requests: TextIO = os.fdopen(os.dup(0), encoding="utf-8")
        self.events: TextIO = os.fdopen(os.dup(1), "w", encoding="utf-8")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, 1)

    def send(self, event: str, **fields: Any) -> None:
        """Tell the parent."""
        self.events.write(json.dumps({"event": event, **fields}) + "\n")
        self.events.flush()


class Watch:
    """What a submission does besides choosing moves, as Python's audit events tell."""

    def __init__(self) -> None:
        self.active = False
        self.missing: list[str] = []
        self.hosts: list[str] = []
        self.starts = 0  # of threads and processes
        self.thread_seconds = 0.0  # of processor time in other threads
        sys.addaudithook(self._hear)
        start = threading.Thread.start

        def counted(thread: threading.Thread) -> None:
            self.starts += self.active
            start(thread)

        threading.Thread.start = counted  # type: ignore[method-assign, assignment]

    @contextmanager
    def on(self) -> Iterator[None]:
        """Watch what happens in the block."""
        before = time.process_time() - time.thread_time()
        self.active = True
        try:
            yield
        finally:
            self.active = False
            self.thread_seconds += time.process_time() - time.thread_time() - before

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.active:
            return
        if event == "open" and isinstance(args[0], str) and not os.path.exists(args[0]):
            if isinstance(args[1], str) and not set(args[1]) & set("wax"):
                self.missing.append(args[0])
        elif event == "ctypes.dlopen" and os.sep in str(args[0]) and not os.path.exists(args[0]):
            self.missing.append(args[0])
        elif event in ("os.fork", "os.posix_spawn", "os.system", "subprocess.Popen"):
            self.starts += 1
        elif event == "socket.connect":
            self.hosts.append(str(args[1]))

    def told(self) -> dict[str, Any]:
        """What was seen so far."""
        return {
            "missing": self.missing[:5],
            "hosts": self.hosts[:5],
            "starts": self.starts,
            "thread_seconds": self.thread_seconds,
        }


class Clock:
    """Replaces the clocks of the module `time` by one that a fixed tick advances at each reading.

    An agent that searches until a deadline then chooses the same move every time. Ticks are powers of
    two, so that adding them up makes no rounding errors.
    """

    NAMES = ("time", "monotonic", "perf_counter", "process_time")

    def __init__(self, tick: float = 0.0, speed: float = 1.0) -> None:
        self.tick = tick
        self.speed = speed
        self.real = time.perf_counter
        self.reset()

    def reset(self) -> None:
        """Begin a move."""
        self.now = 0.0
        self.readings = 0

    def read(self) -> float:
        """The time; as long as the clock has no tick the real one, running at `speed`."""
        self.readings += 1
        self.now += self.tick
        return self.now if self.tick else self.real() * self.speed

    def replace(self) -> None:
        """Replace the clocks of `time`; agents have to be loaded after that."""
        for name in self.NAMES:
            setattr(time, name, self.read)
            setattr(time, f"{name}_ns", lambda: int(self.read() * 1e9))

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Replace the clocks in the block; agents have to be loaded within."""
        saved = {name: getattr(time, name) for base in self.NAMES for name in (base, f"{base}_ns")}
        self.replace()
        try:
            yield
        finally:
            for name, function in saved.items():
                setattr(time, name, function)

    def calibrate(self, agent: Agent, position: Request, seconds: float) -> None:
        """Choose the tick with which a move takes about `MOVE_SECONDS`."""
        answer(agent, position, seconds)  # loads it
        self.reset()
        start = self.real()
        answer(agent, position, seconds)
        elapsed = self.real() - start
        if self.readings:
            tick = max(elapsed / self.readings * max(1.0, elapsed / MOVE_SECONDS), 1e-6)
            self.tick = 2.0 ** math.ceil(math.log2(tick))
        else:
            self.tick = 2.0**-10


class Struct(dict[str, Any]):
    """A dictionary whose keys are attributes as well, as Kaggle passes them."""

    def __init__(self, **entries: Any) -> None:
        super().__init__(entries)
        self.__dict__.update(entries)

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__[name] = value
        self[name] = value


class Child:
    """Answers requests about one submission.

    Args:
        wire: where requests come from.
        setup: the first request: `path` of the submission, `overage` (seconds), `memory` (bytes).
    """

    def __init__(self, wire: Wire, setup: Request) -> None:
        self.wire = wire
        self.path: str = setup["path"]
        self.overage: float = setup["overage"]
        self.watch = Watch()
        self.kaggle, self.environments = import_kaggle()
        self.base_memory = memory("VmHWM")
        limit_memory(setup["memory"])

    def load(self) -> Request:
        """Loads the file as Kaggle does; what is there to be called, and what Kaggle would call."""
        namespace: dict[str, Any] = {}

        def execute(code: Any, names: dict[str, Any]) -> None:
            nonlocal namespace
            namespace = names
            exec(code, names)

        # Kaggle's loader finds this instead of the builtin, which shows its namespace to us.
        self.kaggle.exec = execute
        source = self.kaggle.read_file(self.path, self.path)
        start = time.perf_counter()
        try:
            with self.watch.on():
                chosen = self.kaggle.get_last_callable(source, path=self.path)
        except BaseException as error:
            return {"error": describe(error, self.path)}
        finally:
            seconds = time.perf_counter() - start
            del self.kaggle.exec
        names = [name for name, value in namespace.items() if callable(value)]
        return {
            "seconds": seconds,
            "memory": self.peak_memory(),
            "name": names[-1],
            "agent": "agent" in names,
            "shadowed": "agent" in names and namespace["agent"] is not chosen,
            **call_facts(chosen),
        }

    def game(self, seats: list[str], configuration: Request) -> Request:
        """One official game; the seats named "file" are the submission's."""
        moves: list[Request] = []
        env = self.environment(configuration)
        error = None
        try:
            env.run([self.player(seat, moves) if name == "file" else name for seat, name in enumerate(seats)])
        except BaseException as raised:
            error = describe(raised, self.path)
        logs = [
            log
            for step in env.logs
            for seat, log in enumerate(step[:2])
            if "duration" in log and seats[seat] == "file"
        ]
        for move, log in zip(moves, logs, strict=False):  # the last move has no log if the run broke off
            move.update(seconds=log["duration"], printed=len(log["stdout"]))
        return {
            "moves": moves,
            "rewards": [state.reward for state in env.state],
            "statuses": [state.status for state in env.state],
            "plies": sum(map(bool, env.state[0].observation.board)),
            "banks": [state.observation.remainingOverageTime for state in env.state],
            "error": error,
            "memory": self.peak_memory(seats.count("file")),
            **self.watch.told(),
        }

    def repeat(self, games: list[list[Request]], seconds: float) -> Request:
        """The positions of games to a fresh agent for each game, and to one agent for all.

        The random numbers are seeded and the clock is replaced: only what an agent remembers differs.
        Where the answers do, two more passes with fresh agents tell whether they vary anyway.
        """
        clock = Clock()
        with clock.installed():
            clock.calibrate(self.agent(), games[0][0], seconds)

            def play(agent: Agent, game: Sequence[Request]) -> list[Any]:
                return answers(agent, game, seconds, clock, self.wire)

            fresh = [play(self.agent(), game) for game in games]
            one = self.agent()
            reused = [play(one, game) for game in games]
            again = [[play(self.agent(), game) for game in games] for _ in range(2 * (reused != fresh))]
        return {"fresh": fresh, "reused": reused, "again": again, "tick": clock.tick}

    def answers(self, positions: list[Request], seconds: float, tick: float) -> Request:
        """The submission's answers to positions, under the replaced clock."""
        clock = Clock(tick)
        with clock.installed():
            return {"answers": answers(self.agent(), positions, seconds, clock, self.wire)}

    def peak_memory(self, copies: int = 1) -> int | None:
        """The most bytes that a copy of the submission has taken so far, of `copies` side by side."""
        peak = memory("VmHWM")
        return None if peak is None or self.base_memory is None else (peak - self.base_memory) // copies

    def agent(self) -> Agent:
        """The submission as Kaggle builds it for a game: loaded on its first move."""
        gc.collect()  # what earlier ones have left: functions and their namespaces refer to each other
        built: tuple[Agent, bool] = self.kaggle.build_agent(self.path, {}, "connectx")
        return built[0]

    def player(self, seat: int, moves: list[Request]) -> Agent:
        """The submission in `seat`, telling of every move and adding it to `moves`."""
        agent = self.agent()

        def play(observation: Any, configuration: Any) -> Any:
            board, columns = list(observation.board), configuration.columns
            move: Request = {"seat": seat, "ply": sum(map(bool, board)), "seconds": None, "printed": 0}
            moves.append(move)
            self.wire.send("move", **move)
            try:
                with self.watch.on():
                    action = agent(observation, configuration)
            except BaseException as error:
                move.update(kind="raised", error=describe(error, self.path))
                raise
            move.update(outcome(action, board, columns))
            return action

        return play

    def environment(self, configuration: Request) -> Any:
        """An environment of Kaggle's, its overage bank as set for the check."""
        original = self.environments.environments["connectx"]
        specification = copy.deepcopy(original["specification"])
        specification["observation"]["remainingOverageTime"] = self.overage
        return self.environments.make(
            {**original, "specification": specification}, configuration=configuration
        )


def import_kaggle() -> tuple[Any, Any]:
    """The modules `agent` and `core` of kaggle_environments, with numpy loaded, as they are on Kaggle.

    Of all the games only connectx is imported, which takes a fifth of the time.
    """
    importlib.import_module("numpy")
    listdir = os.listdir
    os.listdir = lambda path=".": [  # type: ignore[assignment]
        name for name in listdir(path) if name == "connectx" or not str(path).endswith("envs")
    ]
    try:
        agent = importlib.import_module("kaggle_environments.agent")
    finally:
        os.listdir = listdir
    return agent, importlib.import_module("kaggle_environments.core")


class Package:
    """Answers requests about the agent `spec` of the package at `root`."""

    def __init__(self, wire: Wire, setup: Request) -> None:
        self.wire = wire
        self.spec: str = setup["spec"]
        sys.path.insert(0, setup["root"])

    def answers(self, positions: list[Request], seconds: float, tick: float) -> Request:
        """The agent's answers to positions, under the replaced clock."""
        clock = Clock(tick)
        with clock.installed():  # before anything is imported that takes a clock from `time`
            agent = importlib.import_module("evaluation.loading").load_agent(self.spec)
            return {"answers": answers(agent, positions, seconds, clock, self.wire)}


class Restricted:
    """Answers requests about one submission under restrictions.

    Kaggle's package is not needed for that: any Python from 3.10 on will do. The rules are the parent's.

    Args:
        wire: where requests come from.
        setup: the first request: `path` of the submission, names of `restrictions`, `modules` packed beside
            the submission, `memory` (bytes) for the restriction of that name, and `speed`, how many times
            as fast as real ones the clocks run: who searches until a deadline then does not take long.
    """

    def __init__(self, wire: Wire, setup: Request) -> None:
        self.wire = wire
        self.path: str = setup["path"]
        self.how = restricted().impose(setup["restrictions"], setup["modules"])
        with suppress(ImportError):  # loaded beforehand on Kaggle
            importlib.import_module("numpy")
        if "memory" in setup["restrictions"]:
            limited = limit_memory(setup["memory"])
            self.how["memory"] = (limited, "RLIMIT_AS" if limited else "not possible on this system")
        self.clock = Clock(speed=setup["speed"])
        if self.clock.speed != 1.0:
            self.clock.replace()
        self.agents: list[Agent] = []

    def load(self) -> Request:
        """Loads the file: how long that takes, what it says on standard error, how it is restricted."""
        start = self.clock.real()
        error = None
        with captured() as said:
            try:
                load_file(self.path)
            except BaseException as raised:
                error = describe(raised, self.path)
        return {"seconds": self.clock.real() - start, "error": error, "said": said(), "how": self.how}

    def begin(self) -> Request:
        """Fresh agents for both seats of a game."""
        self.agents = [self.fresh(), self.fresh()]
        return {}

    def moves(self, positions: list[Request], seconds: float) -> Request:
        """The moves of the seats' agents in these positions, up to the first that is none."""
        played = []
        for position in positions:
            played.append(self.move(position, seconds))
            if not played[-1].get("legal"):
                break
        return {"moves": played}

    def move(self, position: Request, seconds: float) -> Request:
        """One move: what came back, how long it took, what was said on standard error."""
        seat, board = position["mark"] - 1, position["board"]
        move: Request = {"seat": seat, "ply": position["step"]}
        self.wire.send("move", **move)
        random.seed(position["step"])
        start = self.clock.real()
        with captured() as said:
            try:
                action = self.agents[seat](*arguments(position, seconds, self.path))
                move.update(outcome(action, board, position["columns"]))
            except BaseException as error:
                move.update(kind="raised", error=describe(error, self.path))
        return {**move, "seconds": self.clock.real() - start, "said": said()}

    def fresh(self) -> Agent:
        """The submission, loaded on its first move; only what it names is passed to it."""
        chosen: Any = None

        def play(*passed: Any) -> Any:
            nonlocal chosen
            chosen = chosen or load_file(self.path)
            return chosen(*passed[: getattr(getattr(chosen, "__code__", None), "co_argcount", 2)])

        return play


def load_file(path: str) -> Any:
    """What Kaggle would call of the file: its last callable."""
    with open(path, encoding="utf-8") as file:
        code = compile(file.read(), path, "exec")
    namespace: dict[str, Any] = {}
    sys.path.append(os.path.dirname(path))
    try:
        exec(code, namespace)
    finally:
        sys.path.pop()
    return [value for value in namespace.values() if callable(value)][-1]


@contextmanager
def captured() -> Iterator[Callable[[], str]]:
    """Catch what is printed in the block, as Kaggle does; the function gives the start of standard error."""
    with io.StringIO() as nothing, io.StringIO() as errors:
        with redirect_stdout(nothing), redirect_stderr(errors):
            text = ""
            yield lambda: text
        text = errors.getvalue().strip()[:300]


def restricted() -> Any:
    """The module `restricted` beside this file, which no import finds in an isolated Python."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "restricted.py")
    spec = importlib.util.spec_from_file_location("submission_restricted", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answers(
    agent: Agent, positions: Sequence[Request], seconds: float, clock: Clock, wire: Wire
) -> list[Any]:
    """The agent's answers to the positions in turn: a column, or text that tells what it did instead."""
    told = []
    for number, position in enumerate(positions):
        wire.send("move", seat=position["mark"] - 1, ply=position["step"])
        random.seed(number)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(number)
        clock.reset()
        told.append(answer(agent, position, seconds))
    return told


def answer(agent: Agent, position: Request, seconds: float) -> Any:
    """The agent's answer to one position, with `seconds` as actTimeout."""
    try:
        action = agent(*arguments(position, seconds))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return int(action) if kind(action) == "int" else shown(action)


def arguments(position: Request, seconds: float, path: str | None = None) -> tuple[Struct, Struct]:
    """What Kaggle passes to an agent in a position: observation and configuration."""
    observation = Struct(
        remainingOverageTime=position.get("bank", 60),
        step=position["step"],
        board=position["board"][:],
        mark=position["mark"],
    )
    shape = {name: position[name] for name in ("columns", "rows", "inarow")}
    config = Struct(
        episodeSteps=1000, actTimeout=seconds, runTimeout=1200, **shape, agentTimeout=60, timeout=2
    )
    if path:
        config.__raw_path__ = path
    return observation, config


def outcome(action: Any, board: Sequence[int], columns: int) -> Request:
    """What an agent returned: its kind, its text, and whether a column is legal or full."""
    told: Request = {"kind": kind(action), "value": shown(action)}
    if told["kind"] == "int":
        exists = 0 <= action < columns
        legal = exists and not board[action]
        told.update(legal=legal, full=exists and not legal, column=int(action) if legal else None)
    return told


def kind(action: Any) -> str:
    """What an agent returned, in the terms of the findings."""
    if str(type(action).__module__).partition(".")[0] == "numpy":
        return "numpy"
    kinds: tuple[tuple[str, Any], ...] = (
        ("none", type(None)),
        ("wrong-type", bool),
        ("int", int),
        ("float", float),
        ("exception", BaseException),
    )
    for name, types in kinds:
        if isinstance(action, types):
            return name
    if inspect.isgenerator(action) or inspect.iscoroutine(action):
        return "generator"
    return "wrong-type"


def shown(value: Any) -> str:
    """`value` and its type in a few words."""
    return f"{text_of(value, repr)[:60]} of type {type(value).__qualname__}"


def text_of(value: Any, convert: Callable[[Any], str]) -> str:
    """`value` as text, whatever its own methods do."""
    try:
        return convert(value)
    except Exception as error:
        return f"(as text it raises {type(error).__name__})"


def call_facts(chosen: Any) -> Request:
    """What kind of callable Kaggle chose, and whether what it passes fits."""
    code = getattr(chosen, "__code__", None)
    passed = min(2, getattr(code, "co_argcount", 2))
    variable = bool(getattr(code, "co_flags", 0) & inspect.CO_VARARGS)
    return {
        "class": isinstance(chosen, type),
        "cached": hasattr(chosen, "cache_info"),
        "object": code is None,
        "line": getattr(code, "co_firstlineno", None),
        "passed": passed,
        "star": variable and passed == 0,
        "fits": fits(chosen, passed),
        "fits_one": fits(chosen, 1),
    }


def fits(function: Any, count: int) -> bool:
    """Whether `function` can be called with `count` arguments, as far as its signature tells."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # it has no signature
        return True
    return True


def describe(error: BaseException, path: str) -> Request:
    """An exception: its type, its message and the last line of the submission that it passed."""
    if type(error).__name__ == "InvalidArgument" and error.__context__:  # around errors of loading
        error = error.__context__
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == path]
    name = getattr(error, "name", None)
    return {
        "type": type(error).__name__,
        "message": text_of(error, str)[:300],
        "name": name if isinstance(name, str) else None,
        "starting": bool(frames) and os.path.basename(frames[-1].filename) == "subprocess.py",
        "where": f"line {own[-1].lineno}: {own[-1].line}" if own else "",
    }


def memory(field: str) -> int | None:
    """Bytes of memory in use, now ("VmRSS") or at most ("VmHWM"); None if this is not Linux."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            lines = dict(line.split(":", 1) for line in file)
        return int(lines[field].split()[0]) * 1024
    except (OSError, KeyError):
        return None


def limit_memory(limit: int) -> bool:
    """Let this process have `limit` bytes more than now; whether it can be limited, as on Linux."""
    used = memory("VmSize")
    if used is not None:
        resource = importlib.import_module("resource")  # Windows has none
        resource.setrlimit(resource.RLIMIT_AS, (used + limit, used + limit))
    return used is not None


def main() -> None:
    """Answer requests until there are no more."""
    wire = Wire()
    faulthandler.enable()
    setup = json.loads(wire.requests.readline())
    worker: Any = Package if "spec" in setup else Restricted if "restrictions" in setup else Child
    worker = worker(wire, setup)
    wire.send("result")
    for line in wire.requests:
        request = json.loads(line)
        wire.send("result", **getattr(worker, request.pop("do"))(**request))
    os._exit(0)  # not waiting for threads of the submission


if __name__ == "__main__":
    main()
