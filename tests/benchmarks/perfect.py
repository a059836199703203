"""How long `perfect` takes as a submission: loading, the first move, thousands of moves; on half a processor.

The quota is the kernel's (control groups) where this user may set one; elsewhere processor time is doubled.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.board import Board
from evaluation.loading import load_agent
from evaluation.referee import play_game
from submission.bundle import bundle

GAMES = 8  # against each opponent, in each seat
OPPONENTS = ("random_legal", "one_step", "n_step", "perfect")
UNIFORM = 100  # positions after each number of random moves
PERIOD = 10_000  # microseconds, of which half are given
QUOTAS = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")  # version 1, version 2
# Nothing is imported before; Kaggle's process has numpy and others by then.
CHILD = """
import json, sys, time, types
start = time.perf_counter()
space = {}
exec(compile(open(sys.argv[1]).read(), "main.py", "exec"), space)
agent = space["agent"]
config = types.SimpleNamespace(rows=6, columns=7, inarow=4, actTimeout=2, timeout=2, episodeSteps=1000)
seconds = []
for cells, mark in json.load(sys.stdin):
    obs = types.SimpleNamespace(board=cells, mark=mark, remainingOverageTime=60, step=sum(map(bool, cells)))
    begin, cpu = time.perf_counter(), time.process_time()
    agent(obs, config)
    seconds.append((time.perf_counter() - begin, time.process_time() - cpu))
    if len(seconds) == 1:
        first = time.perf_counter() - start, time.process_time()
peak = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(json.dumps([first, seconds, int(peak[0])]))
"""


def game_boards() -> list[Board]:
    """The positions in which `perfect` moves in seeded games, each once."""
    boards = {}
    for opponent in OPPONENTS:
        for number in range(GAMES):
            for seat in (0, 1):
                random.seed(f"{opponent} {number} {seat}")
                agents = [load_agent(opponent), load_agent(opponent)]
                agents[seat] = load_agent("perfect")
                opening = (
                    [random.randrange(7) for _ in range(random.randrange(4))] if opponent == "perfect" else []
                )
                board = Board()
                for column in play_game(agents, opening=opening).moves:
                    if board.turn == seat + 1:
                        boards[board.own, board.other] = board
                    board = board.play(column)
    return list(boards.values())


def uniform_boards() -> list[Board]:
    """Positions after random moves, of every number of discs."""
    rng = random.Random(1)
    boards = []
    for plies in range(40):
        for _ in range(UNIFORM):
            board = Board()
            while board.ply < plies and not board.is_over:
                board = board.play(rng.choice(board.legal_moves()))
            if not board.is_over:
                boards.append(board)
    return boards


@contextmanager
def half_a_processor() -> Iterator[Path | None]:
    """The file that takes the number of a process to hold to half a processor; None where there is none."""
    for base in QUOTAS:
        group = base / f"connectx-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            if (group / "cpu.cfs_quota_us").exists():
                (group / "cpu.cfs_period_us").write_text(str(PERIOD))
                (group / "cpu.cfs_quota_us").write_text(str(PERIOD // 2))
            else:
                (group / "cpu.max").write_text(f"{PERIOD // 2} {PERIOD}")
            yield group / "cgroup.procs"
            return
        except OSError:
            continue
        finally:
            group.rmdir()
    yield None


def measure(
    path: Path, boards: list[Board], quota: Path | None
) -> tuple[list[float], list[list[float]], int]:
    """Seconds (wall, processor) until the first move is made, and of every move; the most memory in kB."""
    shown = [(board.to_flat(), board.turn) for board in boards]
    enter = (lambda: quota.write_text(str(os.getpid()))) if quota else None
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(path)],
        input=json.dumps(shown),
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=enter,
    )
    first, seconds, memory = json.loads(done.stdout)
    return first, seconds, memory


def show(name: str, times: list[float]) -> None:
    ordered = sorted(1000 * seconds for seconds in times)
    found = [ordered[min(int(share * len(ordered)), len(ordered) - 1)] for share in (0.5, 0.99, 0.999, 1)]
    print(
        f"  {name:36} {len(ordered):5} moves: median {found[0]:6.2f} ms, p99 {found[1]:6.1f}, "
        f"p99.9 {found[2]:6.1f}, worst {found[3]:6.1f}"
    )


def run() -> None:
    text = bundle("perfect")
    samples = {"of its games": game_boards(), "after random moves": uniform_boards()}
    with tempfile.TemporaryDirectory() as folder, half_a_processor() as quota:
        path = Path(folder, "main.py")
        path.write_text(text, encoding="utf-8")
        print(f"main.py: {len(text.encode()):,} bytes; load of the machine {os.getloadavg()[0]:.1f}")
        half = "half a processor" if quota else "half a processor (processor time doubled)"
        for speed, limit in (("all of a processor", None), (half, quota)):
            doubled = 2 if limit is None and speed == half else 1
            which = 1 if doubled == 2 else 0
            print(speed)
            starts = sorted(doubled * measure(path, [Board()], limit)[0][which] for _ in range(7))
            print(f"  load and first move: median {1000 * starts[3]:.0f} ms, slowest {1000 * starts[-1]:.0f}")
            for name, boards in samples.items():
                _, seconds, memory = measure(path, [Board(), *boards], limit)
                for column, clock in ((0, "by the clock"), (1, "processor time")):
                    show(f"{name}, {clock}", [doubled * pair[column] for pair in seconds[1:]])
            print(f"  memory at most {memory / 1024:.0f} MB")
