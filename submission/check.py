"""Loads and plays a submission as Kaggle does, in a process of its own, and names what is wrong with it.

The parts of the check run in this order, and a failure ends it: what comes later would only show the same
failure again under other names.

    file            its bytes and its text (`submission.static`)
    loading         once, by Kaggle's loader
    callable        what Kaggle would call, and with what
    validation      the episode Kaggle begins with, the submission against itself: answers, exceptions,
                    times, memory, threads, prints
    repetition      the same positions to a fresh and to a used agent
    games           against Kaggle's own agents, in both seats
    boards          other sizes, other lengths of a line
    package         the moves of the agent it was bundled from
    conditions      a game under each restriction that Kaggle may have; under all of them, and on other
                    Pythons, whole games and random positions (`submission.conditions`)

Within a part the root cause is named, once. The first thing that goes wrong in a game is its finding. An
exception is named by its cause where that can be told (`judge.cause`). A failure or a slow move that the
text explains is reported as that explanation (`EXPLAINED_BY`); a finding of the text that came true is a
failure. Slow loading is not reported again as a slow first move.
"""

from __future__ import annotations

import re
import signal
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Any

from evaluation.errors import InputError
from evaluation.loading import known_agents, load_agent, parse_spec
from evaluation.pitfalls import FAILURE, PITFALLS, Severity
from submission import judge, static
from submission.bundle import locate
from submission.conditions import SINGLE, Conditions, Restriction, Wanted, random_positions
from submission.findings import Finding, finding
from submission.pythons import Python, pythons
from submission.report import Comparison, Condition, Game, Loading, Report
from submission.worker import Event, Worker, WorkerLostError

ROOT = Path(__file__).resolve().parent.parent
KAGGLE_FOLDER = "/kaggle_simulations/agent"
MAX_BYTES = 100_000_000
REPEATED_MOVES = 6
COUNTED_SECONDS = 0.2
"""actTimeout where the clock is replaced."""
QUICK_SECONDS = 0.2
"""actTimeout after the validation episode, for an agent that takes a twentieth of its time or more."""
BOARD_STEPS = 30
"""episodeSteps on other boards."""
TOGETHER = "All of these at once"
WITH_MEMORY_FILES = "All, files in memory"
STANDARD_RANDOM = Wanted(4000, 20.0)
"""Random positions under restrictions."""
ON_OTHERS = Wanted(200, 2.0)
"""Random positions on another Python."""

# Rows, columns, inarow: small, large, one column, one row, nobody can win, the first move wins.
BOARDS = ((4, 5, 3), (8, 9, 5), (5, 1, 4), (1, 6, 3), (3, 4, 5), (10, 12, 4), (2, 2, 1))

# What is seen, and what in the text may be the reason.
EXPLAINED_BY = {
    "agent-not-last": "appended-file",
    "never-returns": "obsolete-timeout",
    "times-out": "obsolete-timeout",
    "slow-first-move": "obsolete-timeout",
    "overage-used": "obsolete-timeout",
}


@dataclass(frozen=True)
class Settings:
    """How a submission is checked.

    Attributes:
        act_timeout, overage: Kaggle's seconds for a move, and for the bank of a game.
        grace: seconds beyond both after which a move is broken off.
        slow_load: seconds of loading that are worth a warning.
        memory: bytes for a process, in which two copies may play; more than a quarter for one of them is
            worth a warning.
        opponents: Kaggle's agents that it plays.
        boards: other boards it plays on, as (rows, columns, inarow).
        repetitions: games in which a used agent is compared with a fresh one.
        positions: how many are compared with the package's agent.
        restrictions: what it is tried under, one after the other and then all at once.
        small_memory: bytes for the restriction of memory.
        random: how many random positions it is given under all restrictions.
        pythons: finds the other Pythons.
    """

    act_timeout: float = 2.0
    overage: float = 60.0
    grace: float = 5.0
    slow_load: float = 1.0
    memory: int = 4 * 2**30
    opponents: tuple[str, ...] = ("random", "negamax")
    boards: tuple[tuple[int, int, int], ...] = BOARDS
    repetitions: int = 3
    positions: int = 200
    restrictions: tuple[Restriction, ...] = SINGLE
    small_memory: int = 10**9
    random: Wanted = STANDARD_RANDOM
    pythons: Callable[[], list[Python]] = pythons


STANDARD = Settings()
Tell = Callable[[Event], None]
Progress = Callable[[str, str | None], None]


def check(path: str | Path, settings: Settings = STANDARD, progress: Progress | None = None) -> Report:
    """The report on a submission: a Python file, or a tar.gz archive with main.py at its root.

    Whatever the submission does ends in findings: it runs in child processes, which are ended after a
    deadline. `progress` hears the name of each step with what it is at, and with None when it is over; steps
    overlap. Raises `InputError` if there is no such file.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no file {path}: make one with python -m submission bundle SPEC -o {path}")
    with tempfile.TemporaryDirectory(prefix="check-", ignore_cleanup_errors=True) as folder:
        checked = _Check(path, Path(folder).resolve(), settings, progress or (lambda *_: None))
        checked.run()
    return checked.report


class _Failed(Exception):  # noqa: N818
    """A failure has been reported, and the check is over."""


class _Check:
    """One check, adding to its report as it goes."""

    def __init__(self, path: Path, folder: Path, settings: Settings, progress: Progress) -> None:
        self.path = path
        self.folder = folder
        self.settings = settings
        self.progress = progress
        self.report = Report(str(path), path.stat().st_size)
        self.reading = static.Reading()
        self.source = ""
        self.siblings: list[str] = []
        self.found: dict[str, Finding] = {}
        self.main = folder / KAGGLE_FOLDER[1:] / "main.py"
        self.patience = settings.act_timeout + settings.overage + settings.grace
        self.workers: list[Worker] = []
        self.tick = 0.0  # of the replaced clock; 0 as long as no moves can be repeated

    def run(self) -> None:
        """Go through the parts until one fails."""
        try:
            self.unpack()
            self.read()
            self.play_alone()
            self.play_others()
            self.play_restricted()
        except _Failed:
            pass
        self.add_static()
        order = list(Severity)
        self.report.findings = sorted(self.found.values(), key=lambda found: order.index(found.severity))

    # Findings

    def add(self, name: str, part: str, seen: str, severity: Severity | None = None) -> None:
        """Report a finding, or what in the text explains it, with the severity of what was seen."""
        severity = severity or PITFALLS[name].severity
        reason = EXPLAINED_BY.get(name)
        if reason in self.reading.seen:
            name = reason
        if name in self.reading.seen:
            seen = f"{self.reading.seen[name]}: {seen}"
        if self.reading.spec:
            seen = re.sub(r"\bline (\d+)", self.located, seen)
        if name not in self.found or severity is FAILURE:
            self.found[name] = finding(name, part, seen, severity)

    def fail(self, name: str, part: str, seen: str) -> _Failed:
        """Report a failure, and give what ends the check; a mere warning has come true."""
        self.add(name, part, seen, FAILURE)
        return _Failed()

    def lost(self, lost: WorkerLostError, part: str, place: str) -> _Failed:
        """Report that the process has ended or hangs."""
        if "ply" in lost.last:
            place = f"{judge.move_name(lost.last)} of {place}"
        if lost.hung:
            return self.fail("never-returns", part, f"no answer within {self.patience:g} s at {place}")
        status = lost.status or 0
        ended = f"{signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        if "MemoryError" in lost.stderr or ended == "SIGKILL":
            return self.fail("out-of-memory", part, f"the process ended at {place} with {ended}")
        line = re.search(r'main\.py", (line \d+)', lost.stderr)
        return self.fail("process-dies", part, f"{ended} at {place}" + (f", {line[1]}" if line else ""))

    def located(self, line: re.Match[str]) -> str:
        """A line of a bundle, with the module it comes from."""
        place = locate(self.source, int(line[1]))
        return f"{line[0]} ({place[0]} line {place[1]})" if place else line[0]

    def add_static(self) -> None:
        """Report what the text shows and nothing before has shown."""
        if "needs-network" in self.found:
            self.found.pop("uses-network", None)
        for name, seen in self.reading.seen.items():
            if name in ("foreign-package", "import-inside-agent") and "module-not-found" in self.found:
                continue
            self.found.setdefault(name, finding(name, "file", seen))

    # The file

    def unpack(self) -> None:
        """Put the submission where Kaggle puts it, under a folder of our own."""
        self.main.parent.mkdir(parents=True)
        if self.report.size > MAX_BYTES:
            raise self.fail("too-large", "file", f"{self.report.size:,} bytes")
        if self.path.name.endswith((".tar.gz", ".tgz")):
            self._extract()
        else:
            self.main.write_bytes(self.path.read_bytes())
        try:
            source = self.main.read_bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.fail("not-utf8", "file", f"{error.reason} at byte {error.start}") from None
        self.source = source
        self.report.lines = len(source.splitlines())
        if source.startswith("\ufeff"):
            raise self.fail("byte-order-mark", "file", "the first three bytes")
        if KAGGLE_FOLDER in source:
            self.main.write_bytes(source.replace(KAGGLE_FOLDER, self.main.parent.as_posix()).encode())
            self.report.notes.append(f"{KAGGLE_FOLDER} stood for the folder that the file was played in.")

    def _extract(self) -> None:
        try:
            with tarfile.open(self.path) as archive:
                names = archive.getnames()
                archive.extractall(self.main.parent, filter="data")
        except (tarfile.TarError, EOFError, OSError) as error:
            raise self.fail("archive-layout", "file", f"it cannot be unpacked: {error}") from None
        if not self.main.is_file():
            raise self.fail("archive-layout", "file", f"it holds {', '.join(names[:5]) or 'nothing'}")

    def read(self) -> None:
        """Read the text."""
        self.siblings = sorted({path.stem for path in self.main.parent.iterdir()} - {"main"})
        self.reading = static.read(self.source, self.siblings)
        self.report.spec = self.reading.spec
        for name in ("notebook-magic", "syntax-error"):
            if seen := self.reading.seen.pop(name, None):
                raise self.fail(name, "file", seen)

    # Loading, the validation episode, repetition: in one process

    def play_alone(self) -> None:
        """Load it, play the validation episode, repeat positions."""
        part, place, repetitions = "loading", "loading", self.settings.repetitions
        try:
            with self.worker() as worker:
                with self.step("Loading"):
                    loaded = worker.ask("load")
                self.judge_loading(loaded)
                part, place = "validation", "the validation episode"
                with self.step("Validation episode") as tell:
                    game = self.game(worker, tell, ["file", "file"], {})
                self.judge_validation(game, place)
                part, place = "repetition", "repeated positions"
                games = [list(islice(random_positions(seed), REPEATED_MOVES)) for seed in range(repetitions)]
                if games:
                    with self.step("Repeated positions") as tell:
                        answers = worker.ask("repeat", tell, games=games, seconds=COUNTED_SECONDS)
                    self.judge_repetition(answers)
        except WorkerLostError as lost:
            raise self.lost(lost, part, place) from None

    def judge_loading(self, load: Event) -> None:
        """What loading took, and whether Kaggle will call the right thing rightly."""
        if error := load.get("error"):
            raise self.fail(judge.cause(error, self.reading, loading=True), "loading", judge.told(error))
        self.report.loading = Loading(load["seconds"], load["memory"], load["name"], load["passed"])
        if load["seconds"] > self.settings.slow_load:
            self.add("slow-load", "loading", f"{load['seconds']:.2f} s")
        defects = {
            "main-guard": not load["agent"] and "agent" in self.reading.guarded,
            "agent-not-last": load["shadowed"],
            "class-chosen": load["class"],
            "cached-agent": load["cached"],
            "star-args": load["star"],
            "one-argument-call": load["object"] and not load["fits"] and load["fits_one"],
            "wrong-argument-count": not load["fits"],
        }
        line = f", line {load['line']}" if load["line"] else ""
        for name, present in defects.items():
            if present:
                raise self.fail(name, "callable", f"Kaggle calls {load['name']}{line}")

    def judge_validation(self, game: Event, place: str) -> None:
        """How it played, and what it took."""
        settings, winner = self.settings, judge.winner(game)
        problem = judge.problem(game, place, self.reading)
        if self.report.loading and game["memory"] is not None:
            self.report.memory = max(game["memory"], self.report.loading.memory or 0)
        self.report.times = judge.times(game, settings.act_timeout, settings.overage)
        if problem:
            name, seen = problem
            self.report.validation = Game("Validation episode", seen, name)
            late = name == "times-out" and game["plies"] <= 1 and "slow-load" in self.found
            raise self.fail("slow-load" if late else name, "validation", seen)
        ending = "a draw" if winner is None else f"the {judge.SEATS[winner]} player won"
        self.report.validation = Game("Validation episode", f"{ending}, {game['plies']} moves")
        self.judge_times(game)
        self.judge_conduct(game)

    def judge_times(self, game: Event) -> None:
        """Whether moves used the bank. The first one, which loads the file, is looked at apart."""
        settings = self.settings
        first = max(move["seconds"] for move in game["moves"][:2])
        later = max(judge.overage(game, seat, settings.act_timeout, skip=1) for seat in (0, 1))
        if later > settings.overage / 10:
            self.add("overage-used", "overage", f"{later:.2f} s of {settings.overage:g} s")
        elif first > settings.act_timeout + settings.overage / 100 and "slow-load" not in self.found:
            self.add("slow-first-move", "times", f"{first:.2f} s")

    def judge_conduct(self, game: Event) -> None:
        """What it did besides choosing moves."""
        total = sum(move["seconds"] for move in game["moves"])
        printed = max(move["printed"] for move in game["moves"])
        busy = game["thread_seconds"]
        if game["missing"] and "hidden-fallback" in self.reading.seen:
            self.add("hidden-fallback", "loading", f"{game['missing'][0]!r} is not there", FAILURE)
        if game["starts"]:
            self.add("starts-threads", "times", f"{game['starts']} started")
        elif busy > max(0.05, total / 20):
            self.add(
                "blas-threads", "times", f"{busy:.2f} s of work in other threads, {total:.2f} s in moves"
            )
        if game["hosts"]:
            self.add("uses-network", "validation", ", ".join(game["hosts"]))
        if (memory := self.report.memory or 0) > self.settings.memory / 4:
            self.add("memory-hungry", "memory", f"{memory / 2**20:,.0f} MB")
        if printed:
            name = "prints-cut" if printed >= judge.PRINT_LIMIT else "prints"
            self.add(name, "validation", f"{printed:,} characters in a move")

    def judge_repetition(self, result: Event) -> None:
        """Whether its moves depend on more than the position and the seed."""
        fresh, reused = result["fresh"], result["reused"]
        self.report.repetition = "moves vary although random numbers are seeded"
        if reused[0] != fresh[0] or any(again != fresh for again in result["again"]):
            self.add("nondeterministic", "repetition", "fresh agents, the same positions and seeds")
            return
        self.tick = result["tick"]
        self.report.repetition = "the same moves again with seeded random numbers"
        pairs = [
            (game, move, *answers)
            for game, played in enumerate(zip(fresh, reused, strict=True), 1)
            for move, answers in enumerate(zip(*played, strict=True), 1)
        ]
        for game, move, expected, seen in pairs:
            if seen != expected:
                told = f"game {game}, move {move}: {_told(seen)}; a fresh agent: {_told(expected)}"
                self.add("state-between-games", "repetition", told)
                return

    # Games and the comparison: two processes at a time

    def play_others(self) -> None:
        """Games against Kaggle's agents, games on other boards, and the comparison with the package."""
        with self.pool() as pool:
            games = pool.submit(self.play_games)
            answers = [pool.submit(ask) for ask in self.comparison()]
            games.result()
            if answers:
                self.judge_comparison(*(answer.result() for answer in answers))

    def play_games(self) -> None:
        """Games against Kaggle's agents, then on other boards."""
        settings = self.settings
        seconds = self.quick_seconds()
        if seconds < settings.act_timeout:
            self.report.notes.append(
                f"To save your time, actTimeout is {seconds:g} s after the validation episode."
            )
        if not (settings.opponents or settings.boards):
            return
        with self.worker() as worker:
            for opponent in settings.opponents:
                with self.step(f"Games against {opponent}") as tell:
                    for seat in (0, 1):
                        self.play_opponent(worker, tell, opponent, seat, seconds)
            with self.step("Other boards") as tell, suppress(WorkerLostError):
                for rows, columns, inarow in settings.boards:
                    size = {"rows": rows, "columns": columns, "inarow": inarow}
                    times = {"actTimeout": seconds, "episodeSteps": BOARD_STEPS}
                    self.play_board(worker, tell, {**size, **times})

    def quick_seconds(self) -> float:
        """The actTimeout after the validation episode."""
        seconds, times = self.settings.act_timeout, self.report.times
        return min(seconds, QUICK_SECONDS) if times and times.mean > seconds / 20 else seconds

    def play_opponent(self, worker: Worker, tell: Tell, opponent: str, seat: int, seconds: float) -> None:
        """One game against an agent of Kaggle's."""
        label = f"{opponent.capitalize()}, moving {judge.SEATS[seat]}"
        place = f"the game against {opponent}"
        seats = ["file", opponent] if seat == 0 else [opponent, "file"]
        try:
            game = self.game(worker, tell, seats, {"actTimeout": seconds})
        except WorkerLostError as lost:
            raise self.lost(lost, label, place) from None
        if problem := judge.problem(game, place, self.reading):
            self.report.games.append(Game(label, problem[1], problem[0]))
            raise self.fail(problem[0], label, problem[1])
        winner = judge.winner(game)
        result = "a draw" if winner is None else "won" if winner == seat else "lost"
        self.report.games.append(Game(label, f"{result}, {game['plies']} moves"))

    def play_board(self, worker: Worker, tell: Tell, configuration: Event) -> None:
        """One game against itself on another board. Raises `WorkerLostError` when the process is lost."""
        label = "{rows}x{columns}/{inarow}".format(**configuration)
        lost = problem = None
        try:
            game = self.game(worker, tell, ["file", "file"], configuration)
            problem = judge.problem(game, label, self.reading)
        except WorkerLostError as error:
            lost = error
            problem = "never-returns" if lost.hung else "process-dies", f"the process is lost on {label}"
        self.report.boards.append(Game(label, problem[1] if problem else "played", problem and problem[0]))
        if problem:
            self.add("other-configurations", "boards", problem[1])
        if lost:
            raise lost

    def comparison(self) -> list[Callable[[], list[Any]]]:
        """How to get the answers of the file and of the package to the same positions, if there are any."""
        spec, wanted = self.reading.spec, self.settings.positions
        if not (spec and wanted):
            return []
        if not self.tick:
            self.report.notes.append("The moves vary, so they were not compared with the package's.")
            return []
        if parse_spec(spec)[0] not in known_agents():
            self.report.notes.append(f"The moves were not compared: {spec} is no agent of the package.")
            return []
        load_agent(spec)  # refuses constants there are not
        boards = dict[str, Event]()
        for position in (position for seed in count() for position in random_positions(seed)):
            boards[str(position["board"])] = position
            if len(boards) == wanted:
                break
        request = {"positions": list(boards.values()), "seconds": COUNTED_SECONDS, "tick": self.tick}
        return [lambda: self.answers(None, request), lambda: self.answers(spec, request)]

    def answers(self, spec: str | None, request: Event) -> list[Any]:
        """The answers of the file, or of the package's agent `spec`."""
        with self.step(f"Moves of {spec or 'the file'}") as tell, self.worker(spec) as worker:
            try:
                answers: list[Any] = worker.ask("answers", tell, **request)["answers"]
            except WorkerLostError as lost:
                if not spec:
                    raise self.lost(lost, "package", "the comparison with the package") from None
                raise InputError(f"{spec} of the package does not play: {lost}") from None
        return answers

    def judge_comparison(self, file: list[Any], package: list[Any]) -> None:
        """Whether the file plays what the package plays."""
        different = [
            number for number, pair in enumerate(zip(file, package, strict=True)) if pair[0] != pair[1]
        ]
        self.report.comparison = Comparison(len(file), len(different))
        if different:
            number = different[0]
            raise self.fail(
                "differs-from-package",
                "package",
                f"{len(different)} of {len(file)} moves, the first {_told(file[number])}; "
                f"the package's {_told(package[number])}",
            )

    # Conditions: two processes at a time

    def play_restricted(self) -> None:
        """Games under each restriction, then all that follows from them."""
        settings = self.settings
        setup: Event = {"path": str(self.main), "modules": self.siblings, "memory": settings.small_memory}
        trials = Conditions(
            self.start, setup, self.reading, settings.act_timeout, settings.overage, settings.boards
        )
        seconds = self.quick_seconds()

        def single(restriction: Restriction) -> Condition:
            with self.step(restriction.label) as tell:
                return trials.single(restriction, tell, seconds)

        def together(label: str, names: list[str], wanted: Wanted, python: Python | None) -> Condition:
            with self.step(label) as tell:
                return trials.together(label, names, tell, wanted, python)

        with self.pool() as pool:
            others = pool.submit(settings.pythons)
            conditions = list(pool.map(single, settings.restrictions))
            bearable = [
                name
                for restriction, condition in zip(settings.restrictions, conditions, strict=True)
                if not condition.problem
                for name in restriction.names
            ]
            most = [name for name in bearable if name != "memory-files"]
            jobs: list[tuple[str, list[str], Wanted, Python | None]] = [
                (f"Python {python}", most, ON_OTHERS, python) for python in others.result()
            ]
            if settings.random.positions:
                few = min(settings.random, ON_OTHERS, key=lambda wanted: wanted.positions)
                jobs = [
                    (WITH_MEMORY_FILES, most, settings.random, None),
                    (TOGETHER, bearable, few, None),
                    *jobs,
                ]
            conditions += pool.map(lambda job: together(*job), jobs)
        self.report.conditions = conditions
        everywhere = any(each.label == WITH_MEMORY_FILES and each.problem for each in conditions)
        for condition in conditions:
            if condition.problem and not (everywhere and condition.problem == "other-python"):
                self.add(condition.problem, condition.label, condition.result)
        if partial := sorted({name for condition in conditions for name in condition.partial}):
            self.report.notes.append(
                f"Restricted in Python only, not in compiled code and child processes: {', '.join(partial)}."
            )

    # Processes

    @contextmanager
    def pool(self) -> Iterator[ThreadPoolExecutor]:
        """Two threads that wait for processes."""
        with ThreadPoolExecutor(2) as pool:
            try:
                yield pool
            except BaseException:  # Ctrl-C too: when the processes end, so do the threads that wait for them
                pool.shutdown(wait=False, cancel_futures=True)
                for worker in self.workers:
                    worker.close()
                raise

    def start(self, setup: Event, python: Python | None = None) -> Worker:
        """A process, by the running Python if no other. Raises `WorkerLostError`."""
        worker = Worker(setup, self.folder, self.patience, python.path if python else None)
        self.workers.append(worker)
        return worker

    @contextmanager
    def worker(self, spec: str | None = None) -> Iterator[Worker]:
        """A process with the file, or with the agent `spec` of the package."""
        settings = self.settings
        file = {"path": str(self.main), "overage": settings.overage, "memory": settings.memory}
        setup: Event = {"root": str(ROOT), "spec": spec} if spec else file
        try:
            worker = self.start(setup)
        except WorkerLostError as lost:
            raise InputError(f"the check cannot start kaggle_environments (try make setup): {lost}") from None
        with worker:
            yield worker

    def game(self, worker: Worker, tell: Tell, seats: list[str], configuration: Event) -> Event:
        """One official game; the seats named "file" are the submission's."""
        configuration = {"actTimeout": self.settings.act_timeout, **configuration}
        game = worker.ask("game", tell, seats=seats, configuration=configuration)
        left = [bank for bank, player in zip(game["banks"], seats, strict=True) if player == "file"]
        self.report.bank = min(left if self.report.bank is None else [self.report.bank, *left])
        return game

    @contextmanager
    def step(self, name: str) -> Iterator[Tell]:
        """A step of the check, and what tells of the moves in it."""
        self.progress(name, "")
        yield lambda move: self.progress(name, judge.move_name(move))
        self.progress(name, None)


def _told(answer: int | str) -> str:
    """An answer for a person."""
    return f"column {answer}" if isinstance(answer, int) else answer
