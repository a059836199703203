"""Games played by workers: this process, other processes, or the machines of a cluster.

All are reached through `concurrent.futures.Executor`. Games are sent in batches that take about a fifth of
a second. A worker may die at any moment: what it had not handed back is played again, and a game that kills
its worker again and again is given up.
"""

from __future__ import annotations

import logging
import os
import pickle
import random
import signal
import sys
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from concurrent.futures.process import ProcessPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from multiprocessing import current_process, get_context, parent_process
from pathlib import Path
from platform import node
from time import perf_counter
from typing import Any, NamedTuple, NoReturn

import numpy as np

from evaluation import kaggle
from evaluation.errors import InputError
from evaluation.isolation import needs_isolation, open_agent, shortfall
from evaluation.loading import Agent, agent_name, load_agent
from evaluation.records import GameRecord
from evaluation.referee import play_game

REFEREES = {"fast": play_game, "kaggle": kaggle.play_game}


BATCH_SECONDS = 0.2
LARGEST_BATCH = 256
LIMIT = 3
"""How often a game may lose its worker before it is given up."""
CONNECT_SECONDS = 10
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

_own = threading.local()


class WorkerError(InputError):
    """What played games has ended, or could not start."""


@dataclass(frozen=True)
class Task:
    """A game to be played: its key, the agents by seat, the seed it follows from, the opening's columns."""

    key: Any
    seats: tuple[str | Agent, str | Agent]
    seed: int
    opening: tuple[int, ...]


Outcome = GameRecord | InputError
"""A game, or why there is none."""


class Played(NamedTuple):
    """What a batch of games came to.

    Attributes:
        outcomes: of its games, in their order.
        seconds: that they took.
        shortfall: what isolation lacks where they were played, if an agent needed it.
    """

    outcomes: list[Outcome]
    seconds: float
    shortfall: str | None


@dataclass(frozen=True)
class Player:
    """What workers run: it plays games with one referee under the same settings.

    Agents given as files are isolated, unless they are `trusted`.
    """

    referee: str
    settings: Mapping[str, Any]
    trusted: bool = False

    def play(self, tasks: Sequence[Task]) -> Played:
        """Plays `tasks`. For one thread of a process at a time."""
        start = perf_counter()
        outcomes = [self._game(task) for task in tasks]
        isolates = any(self._isolates(agent) for task in tasks for agent in task.seats)
        return Played(outcomes, perf_counter() - start, _on_this_machine() if isolates else None)

    def _isolates(self, agent: str | Agent) -> bool:
        return not self.trusted and needs_isolation(agent)

    def _game(self, task: Task) -> Outcome:
        random.seed(task.seed)
        np.random.seed(task.seed % 2**32)
        with ExitStack() as stack:
            agents = [self._agent(stack, task, seat) for seat in (0, 1)]
            try:
                return REFEREES[self.referee](agents, self.settings, task.opening)
            except InputError as error:  # `runTimeout`
                return error

    def _agent(self, stack: ExitStack, task: Task, seat: int) -> Agent:
        agent = task.seats[seat]
        if isinstance(agent, str) and self._isolates(agent):
            return stack.enter_context(open_agent(agent, seed_of(task.seed, seat)))
        return load_agent(agent)


def _on_this_machine() -> str | None:
    """What isolation lacks here, with the machine's name."""
    lacking = shortfall()
    return lacking and f"on {node()}: {lacking}"


def seed_of(*parts: object) -> int:
    """A seed (64 bits) that follows from `parts`; the same on every machine."""
    return int.from_bytes(blake2b(" ".join(map(str, parts)).encode(), digest_size=8).digest())


class Workers(ABC):
    """Where games are played.

    Attributes:
        executor: what takes them.
        limit: how often a game may lose its worker.
        largest_batch: how many games are sent at once at most.
        deaths: the errors of a batch whose worker died.
    """

    executor: Executor
    limit = LIMIT
    largest_batch = LARGEST_BATCH
    deaths: tuple[type[BaseException], ...] = (BrokenExecutor,)

    @abstractmethod
    def count(self) -> int:
        """How many batches are played at a time."""

    def is_broken(self, future: Future[Any]) -> bool:
        """Whether a batch tells that the executor takes no more: it was cancelled."""
        return future.cancelled()

    @abstractmethod
    def renew(self) -> bool:
        """Goes on with a broken executor; whether a game may have broken it.

        Raises `WorkerError` where there is no way to go on.
        """

    @abstractmethod
    def close(self) -> None:
        """Ends the games under way."""


@contextmanager
def workers(jobs: int = 1, cluster: str | None = None) -> Iterator[Workers]:
    """This process for one job, processes for more, or the workers of a dask scheduler at `cluster`."""
    with closing(Cluster(cluster) if cluster else Processes(jobs) if jobs > 1 else Here()) as place:
        yield place


@dataclass
class _Attempt:
    task: Task
    lost: int = 0  # how many workers


@dataclass
class _Queue:
    """Games still to be sent: new ones, and before them those whose worker died."""

    fresh: Iterator[Task]
    again: deque[_Attempt] = field(default_factory=deque)

    def take(self, count: int) -> list[_Attempt]:
        """The next batch; games for the second time go one by one."""
        if self.again:
            return [self.again.popleft()]
        return [_Attempt(task) for _, task in zip(range(count), self.fresh, strict=False)]


def play_all(
    player: Player, tasks: Iterable[Task], place: Workers, tell: Callable[[str], None] = lambda _: None
) -> Generator[tuple[Task, Outcome]]:
    """Plays all games, and yields each with its outcome as they end, in no fixed order.

    `tasks` is read as workers become free, so it may depend on what has been yielded. `tell` is told once of
    each shortfall of isolation where games are played.
    """
    told = set[str]()
    queue = _Queue(iter(tasks))
    flying: dict[Future[Any], list[_Attempt]] = {}
    size = 1
    while True:
        while len(flying) < (1 if _suspects(queue.again, *flying.values()) else place.count()):
            if not (batch := queue.take(size)):
                break
            flying[_submit(place, player, batch)] = batch
        if not flying:
            return
        done, _ = wait(flying, return_when=FIRST_COMPLETED)
        suspicious = True
        if any(map(place.is_broken, done)):
            done, _ = wait(flying)  # the others have their results or the same error
            suspicious = place.renew()
        for future in done:
            batch = flying.pop(future)
            try:
                outcomes, seconds, lacking = future.result()
            except place.deaths:
                if suspicious:
                    yield from _lost(queue, batch, place.limit)
                else:
                    queue.again += batch
                continue
            size = min(max(1, round(BATCH_SECONDS * len(batch) / max(seconds, 1e-9))), place.largest_batch)
            if lacking and lacking not in told:
                told.add(lacking)
                tell(lacking)
            for attempt, outcome in zip(batch, outcomes, strict=True):
                yield attempt.task, outcome


def _suspects(*batches: Iterable[_Attempt]) -> bool:
    """Whether a game is there that has lost two workers: it is played alone, to know which one it is."""
    return any(attempt.lost > 1 for batch in batches for attempt in batch)


def _lost(queue: _Queue, batch: Sequence[_Attempt], limit: int) -> Iterator[tuple[Task, Outcome]]:
    """Puts the games of a worker that died back into the queue, but for one that has killed its last."""
    for attempt in batch:
        attempt.lost += 1
        if len(batch) == 1 and attempt.lost >= limit:
            why = WorkerError(
                f"a process that played games has ended, {limit} times in the same game: "
                "an agent crashed it, or memory ran out"
            )
            yield attempt.task, why
        else:
            queue.again.append(attempt)


def _submit(place: Workers, player: Player, batch: Sequence[_Attempt]) -> Future[Any]:
    tasks = [attempt.task for attempt in batch]
    try:
        return place.executor.submit(player.play, tasks)
    except BrokenExecutor:  # found out before any game tells
        place.renew()
        return place.executor.submit(player.play, tasks)


class Here(Workers):
    """This process: games are played as they are submitted, one by one, so that none is lost to Ctrl-C."""

    largest_batch = 1

    def __init__(self) -> None:
        self.executor = _Immediate()

    def count(self) -> int:
        """One game at a time."""
        return 1

    def renew(self) -> NoReturn:
        """Never asked for."""
        raise AssertionError

    def close(self) -> None:
        """Nothing to end."""


class _Immediate(Executor):
    """An executor that runs what is submitted at once."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments, **options))
        except Exception as error:
            future.set_exception(error)
        return future


class Processes(Workers):
    """Processes of this machine, started afresh (spawn): a fork of one with threads may hang."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._starts = 0  # that failed, in a row
        self._start()

    def _start(self) -> None:
        self._pool = _pool(self.jobs)
        self.executor = _Guarded(self._pool)
        self._first = self.executor.submit(_nothing)

    def is_broken(self, future: Future[Any]) -> bool:
        """Whether a process has died: it takes the others with it."""
        return isinstance(future.exception(), BrokenExecutor)

    def count(self) -> int:
        """Two batches a process, so that none waits for its next one."""
        return 2 * self.jobs

    def renew(self) -> bool:
        """New processes in place of a broken pool's."""
        began = self._first.exception() is None
        self._starts = 0 if began else self._starts + 1
        if self._starts == self.limit:
            raise WorkerError(
                "no process could be started: memory ran out, or a script calls this without the guard "
                'if __name__ == "__main__": try jobs=1'
            )
        self.close()
        self._start()
        return began

    def close(self) -> None:
        """Ends the processes at once; from Python 3.14 on there is a method for it."""
        for worker in list((self._pool._processes or {}).values()):
            worker.terminate()
        self._pool.shutdown(cancel_futures=True)


def _pool(jobs: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(jobs, get_context("spawn"), _begin)


class _Guarded(Executor):
    """A pool whose processes, started as games are submitted, get no Ctrl-C and one thread each for numpy."""

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self._pool = pool

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        with _ctrl_c_held_back(), _one_thread():
            return self._pool.submit(function, *arguments, **options)


class Cluster(Workers):
    """The workers of a dask scheduler, such as "tcp://127.0.0.1:8786". Each needs a copy of the kit.

    The scheduler gives a batch whose worker died to another, three times.
    """

    def __init__(self, address: str) -> None:
        try:
            import distributed
        except ImportError:
            raise WorkerError(
                "a cluster needs the package distributed: pip install -r requirements-cluster.txt"
            ) from None
        for name in ("distributed", "distributed.client"):  # what matters is told in one line
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        self.address = address
        self.deaths = (distributed.KilledWorker, BrokenExecutor)
        try:
            client: Any = distributed.Client
            self._client = client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            reason = str(error).partition("\n")[0]
            raise WorkerError(f"there is no scheduler at {address}: {reason}") from None
        self.executor = _Apart(self._client.get_executor(pure=False))
        try:
            self._client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError:
            self.close()
            raise WorkerError(f"the scheduler at {address} has no workers: start some") from None
        try:
            self.executor.submit(_nothing).result()
        except Exception as error:  # whatever the cluster's machines lack
            self.close()
            raise WorkerError(
                f"the cluster at {address} cannot play: its scheduler and workers need this kit, its "
                f"packages and PYTHONPATH=. ({_cause(error)})"
            ) from None

    def count(self) -> int:
        """Two batches a thread of the cluster's workers, which may come and go."""
        try:
            return 2 * max(1, sum(map(int, self._client.nthreads().values())))
        except OSError:
            return self.renew()

    def renew(self) -> NoReturn:
        """There is no way to: a batch is cancelled when the scheduler is lost."""
        raise WorkerError(f"the scheduler at {self.address} is gone")

    def close(self) -> None:
        """Takes back what has not been played."""
        self._client.close(timeout=CONNECT_SECONDS)


class _Apart(Executor):
    """A cluster whose workers play in a process beside them: their own threads draw from `random`, too."""

    def __init__(self, cluster: Executor) -> None:
        self._cluster = cluster

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        return self._cluster.submit(_run_apart, function, *arguments, **options)


def _cause(error: BaseException) -> str:
    """What led to an error, in a line."""
    while error.__cause__:
        error = error.__cause__
    return f"{type(error).__name__}: {error}".partition("\n")[0]


def _run_apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """In a thread of a cluster's worker: calls a function in the process that belongs to the thread."""
    if not hasattr(_own, "pool"):
        # A worker with a nanny is daemonic, and those may start no process; this one ends with its parent.
        current_process()._config["daemon"] = False  # type: ignore[attr-defined]
        _own.pool = _pool(1)
    try:
        return _Guarded(_own.pool).submit(function, *arguments).result()
    except BrokenExecutor:
        del _own.pool
        raise


@contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """Ctrl-C comes after the block; to processes started in it never, so they do not fail half started."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Libraries of processes started in the block do not start threads that compete for the processors."""
    missing = [name for name in THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(missing, "1"))
    try:
        yield
    finally:
        for name in missing:
            del os.environ[name]


def _begin() -> None:
    """For processes: Ctrl-C is their parent's, and they do not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := parent_process():
        parent.join()
        os._exit(1)


def _nothing() -> None:
    """What a process is asked for to see that it starts."""


def check_numbers(**numbers: tuple[int, int]) -> None:
    """Raises `InputError` for a number below the least one that it is given with."""
    for name, (value, least) in numbers.items():
        if value < least:
            raise InputError(f"{name} must be at least {least}, not {value}")


def check_agents(agents: Iterable[str | Agent], jobs: int = 1, cluster: str | None = None) -> None:
    """Raises `InputError` for an agent that cannot be loaded, here or where the games are played."""
    for agent in agents:
        if jobs > 1 or cluster:
            _check_shippable(agent)
        load_agent(agent)


def isolation_told(agents: Iterable[str | Agent], trusted: bool, tell: Callable[[str], None]) -> None:
    """Tells in a line what isolation lacks here, if an agent needs it."""
    if not trusted and any(map(needs_isolation, agents)) and (what := shortfall()):
        tell(what)


def _check_shippable(agent: str | Agent) -> None:
    """Raises `InputError` for a callable that another process could not find again by its name."""
    if isinstance(agent, str):
        return
    try:
        shippable = b"__main__" not in pickle.dumps(agent) or _has_main_file()
    except (pickle.PicklingError, AttributeError, TypeError):
        shippable = False
    if not shippable:
        raise InputError(
            f"{agent_name(agent)} cannot be sent to other processes: put it into a file and name that "
            '("my_agent.py"), or play with jobs=1'
        )


def _has_main_file() -> bool:
    """Whether other processes can run `__main__` again: not that of a notebook or of standard input."""
    return Path(getattr(sys.modules["__main__"], "__file__", "")).is_file()


@contextmanager
def generators_kept() -> Iterator[None]:
    """Puts the global random generators back to where they were."""
    states = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
