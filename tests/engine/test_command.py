"""`python -m engine`: answers for positions, streams and benchmarks, and one line for what cannot be used."""

import io
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import __main__ as command
from engine import bench
from engine.board import Board
from engine.clock import now
from engine.native.build import NativeError
from engine.solver import OutOfTimeError

ROOT = Path(__file__).parent.parent.parent
POSITIONS = ROOT / "tests" / "positions"
# A few empty cells: the solver in Python finds the score as well.
LATE = "22525762534622441115633653436713514"


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    status = command.main(arguments)
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def stdin(text: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(text.encode()))


def test_positions_as_arguments(capsys):
    status, out, err = run(capsys, "solve", "44444", "2252576253462244111563365343671351441")
    assert (status, err) == (0, "")
    assert [line.split() for line in out.splitlines()][1] == ["2252576253462244111563365343671351441", "-1"]


def test_columns_and_json(capsys):
    status, out, _ = run(capsys, "solve", "112233", "--columns")
    assert status == 0
    moves, score, *columns = out.replace(":", "").split()
    assert (moves, score, max(columns, key=int)) == ("112233", "18", "18")
    assert len(columns) == 7
    _, out, _ = run(capsys, "solve", "444444", "--columns", "--json")
    answer = json.loads(out)
    assert answer["moves"] == "444444"
    assert answer["columns"][3] is None
    assert answer["score"] == max(score for score in answer["columns"] if score is not None)


def test_a_stream_with_other_words_behind_the_moves(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", stdin(f"{LATE} 99\n2252576253462244111563365343671351441"))
    status, out, _ = run(capsys, "solve")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == [LATE, "2252576253462244111563365343671351441"]


def test_the_first_moves_come_from_the_book(capsys, monkeypatch):
    """Searched, an empty line would take seconds, without a word."""

    monkeypatch.setattr(command, "finder", lambda *_: None)
    monkeypatch.setattr(sys, "stdin", stdin("\n4\n\n"))
    assert run(capsys, "solve") == (0, " 1\n4 -1\n 1\n", "")
    status, out, err = run(capsys, "solve", "--columns", "", "444444", "112233")
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == " 1: -2 -1 0 1 0 -1 -2"
    assert out.splitlines()[1].split()[5] == "-"
    assert out.splitlines()[2].split()[:5] == ["112233", "18:", "-2", "-1", "-1"]


def test_the_book_and_the_solver_agree(capsys, monkeypatch):
    positions = ["1122331", "4444412", "12112122", "44445555", "12121212"]
    booked = [run(capsys, "solve", "--columns", moves) for moves in positions]
    monkeypatch.setattr(command, "with_book", lambda find: find)
    assert booked == [run(capsys, "solve", "--columns", moves) for moves in positions]


def test_bench_reads_what_solve_prints(capsys, tmp_path):
    path = tmp_path / "solved"
    _, out, _ = run(capsys, "solve", "--size", "4x4x3", "", "12", "--columns")
    path.write_text(f"{out}\n \n{out}")
    status, out, err = run(capsys, "bench", "--size", "4x4x3", str(path))
    assert (status, err) == (0, "")
    assert "4 positions" in out
    path.write_text("\n\n12 high\n")
    assert "line 3: '12 high'" in run(capsys, "bench", "--size", "4x4x3", str(path))[2]


def test_a_line_is_answered_before_the_next_one_comes():
    process = subprocess.Popen(
        [sys.executable, "-m", "engine", "solve"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    for _ in range(2):
        process.stdin.write(f"{LATE}\n")
        assert process.stdout.readline().startswith(f"{LATE} ")
    assert process.communicate() == ("", None)
    assert process.returncode == 0


def test_bytes_that_are_no_text_get_one_line(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe\n")))
    status, out, err = run(capsys, "solve")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("error: line 1: ")


def test_threads_give_the_same_scores(capsys, tmp_path):
    moves, score = (ROOT / "tests/positions/begin-medium.txt").read_text().split()[:2]
    status, out, _ = run(capsys, "solve", "--threads", "2", moves)
    assert (status, out) == (0, f"{moves} {score}\n")
    (tmp_path / "one").write_text(f"{moves} {score}\n")
    assert run(capsys, "bench", "--threads", "2", str(tmp_path / "one"))[0] == 0
    for bad in ("0", "two", "65"):
        with pytest.raises(SystemExit):
            command.main(["solve", "--threads", bad, moves])
        assert "1 to 64" in capsys.readouterr().err


def test_wide_boards_take_numbers_with_commas(capsys):
    status, out, _ = run(capsys, "solve", "--size", "2x12x3", "10,10,11")
    assert status == 0
    assert out.split()[0] == "10,10,11"


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        ("12x", "position 1: '12x': 'x' in moves"),
        ("0", "position 1: '0': '0' in moves"),
        ("8", "column 8 does not exist"),
        ("4444444", "move 7 of '4444444': column 4 is full"),
        ("1212121", "the game is over"),
        ("12121212", "move 8 of '12121212': the game is over"),
    ],
)
def test_bad_positions_get_one_line(moves, message, capsys):
    status, out, err = run(capsys, "solve", moves)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_bad_line_in_a_stream_keeps_the_answers_before_it(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", stdin(f"{LATE}\nnonsense\n{LATE}\n"))
    status, out, err = run(capsys, "solve")
    assert status == 2
    assert out.startswith(LATE)
    assert out.count("\n") == 1
    assert err.startswith("error: line 2: 'nonsense'")


@given(text=st.text(max_size=12))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_gets_an_answer_or_one_line(text, capsys):
    """Text that is no position never ends in a traceback. Few discs would take long: 4x4 is quick."""
    if text.startswith("-"):  # an option
        return
    status, out, err = run(capsys, "solve", "--size", "4x4x3", text)
    assert status in (0, 2)
    if status == 2:
        assert (out, err.startswith("error: position 1: ")) == ("", True)


def test_a_reader_that_has_seen_enough_gets_no_traceback():
    process = subprocess.Popen(
        [sys.executable, "-m", "engine", "solve", LATE],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(timeout=60) == 1


def test_columns_beyond_a_byte(capsys):
    status, _, err = run(capsys, "solve", "--size", "2x30x4", "300,")
    assert status == 2
    assert "column 300 does not exist: columns are 1 to 30" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "the following arguments are required: COMMAND (python -m engine -h tells more)"),
        ("solve --sise 44", "unrecognized arguments: --sise (python -m engine -h tells more)"),
        (
            "solve --threads x",
            "'x' is no number of threads: write 1 to 64 (python -m engine solve -h tells more)",
        ),
        ("book make", "(python -m engine book -h tells more)"),
    ],
)
def test_wrong_arguments_get_one_line(arguments, message, capsys):
    with pytest.raises(SystemExit) as end:
        command.main(arguments.split())
    err = capsys.readouterr().err
    assert (end.value.code, err.count("\n")) == (2, 1)
    assert err.startswith("error: ")
    assert err.endswith(f"{message}\n")


def test_a_person_at_the_keyboard_is_told_what_to_type(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", stdin(f"{LATE}\n"))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    assert run(capsys, "solve") == (
        0,
        f"{LATE} -2\n",
        "type positions, one a line, such as 4455; Ctrl-C ends\n",
    )


@pytest.mark.parametrize("name", ["solve", "bench"])
def test_help_names_the_defaults(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit):
        command.main([name, "-h"])
    told = capsys.readouterr().out
    assert "how many in a row win (default: 6x7x4)" in told
    assert "threads for a hard position (default: 1)" in told
    assert told.count("(default: ") == 3


@pytest.mark.parametrize("size", ["6x7", "0x7x4", "axbxc", "6x7x4x", "31x30x4", "9999999999x7x4", "6x7x٤"])
def test_bad_sizes(size, capsys):
    with pytest.raises(SystemExit) as end:
        command.main(["solve", "--size", size, "44"])
    assert end.value.code == 2
    assert "write rows, columns and inarow as in 6x7x4, at most 900 cells" in capsys.readouterr().err


def test_the_largest_board_is_not_too_deep_for_python(capsys):
    size = command._size("30x30x30")
    solver = command.make_solver(size)
    assert "solving in Python" in capsys.readouterr().err
    with pytest.raises(OutOfTimeError):
        solver.score(Board(*size), deadline=now() + 2)


def shell(line: str) -> tuple[int, str, str]:
    """Status, standard output and error of a line for the shell, in which PYTHON stands for this one."""
    process = subprocess.run(
        ["sh", "-c", line.replace("PYTHON", shlex.quote(sys.executable))],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    return process.returncode, process.stdout, process.stderr


@pytest.mark.skipif(os.name == "nt", reason="there is no sh")
@pytest.mark.parametrize(
    ("line", "status", "message"),
    [
        ("solve <&-", 2, "standard input is closed: give positions as arguments"),
        ("solve LATE <&-", 0, ""),
        ("solve LATE >&-", 2, "standard output is closed: give the answers a place"),
        ("solve x 2>&-", 2, ""),
        ("solve LATE 2>&-", 0, ""),
        pytest.param(
            "solve LATE >/dev/full",
            2,
            "cannot write standard output: No space left",
            marks=pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full"),
        ),
    ],
)
def test_streams_that_are_closed_or_full_get_one_line(line, status, message):
    found, out, err = shell(f"PYTHON -m engine {line}".replace("LATE", LATE))
    assert (found, out) == (status, "" if status else f"{LATE} -2\n")
    assert err.startswith(f"error: {message}" if message else "")
    assert err.count("\n") == bool(message)


def test_bench_tells_right_scores_from_wrong_ones(capsys, tmp_path):
    right, wrong, broken = tmp_path / "right", tmp_path / "wrong", tmp_path / "broken"
    right.write_text("2252576253462244111563365343671351441 -1\n")
    wrong.write_text("2252576253462244111563365343671351441 2\n")
    broken.write_text("4455 high\n")
    status, out, _ = run(capsys, "bench", str(right))
    assert status == 0
    assert out.startswith("right: 1 position, 0 wrong: mean ")
    status, out, err = run(capsys, "bench", str(wrong))
    assert status == 1
    assert out.startswith("wrong: 1 position, 1 wrong: mean ")
    assert err.endswith("wrong, line 1: '2252576253462244111563365343671351441' is -1, not 2\n")
    for path, message in ((broken, "line 1"), (tmp_path / "missing", "cannot read")):
        status, _, err = run(capsys, "bench", str(path))
        assert status == 2
        assert message in err


def test_bench_without_a_file_takes_the_sets_of_the_kit(capsys, monkeypatch, tmp_path):
    """Each of them, but three positions of each: all take half a minute."""
    monkeypatch.setattr(command, "scored_positions", lambda path: bench.scored_positions(path)[:3])
    status, out, err = run(capsys, "bench", "--json")
    assert (status, err) == (0, "")
    figures = [json.loads(line) for line in out.splitlines()]
    assert sorted(each["name"] for each in figures) == sorted(path.stem for path in POSITIONS.glob("*.txt"))
    for each in figures:
        assert (each["positions"], each["correct"]) == (3, 3)
        assert 0 < each["mean_seconds"] <= each["longest_seconds"] <= 3 * each["mean_seconds"]
        assert each["nodes_per_second"] == pytest.approx(each["mean_nodes"] / each["mean_seconds"])
    assert run(capsys, "bench", "--size", "5x5x4")[::2] == (
        2,
        "error: the kit's own positions are of 6x7x4: name a file for another size\n",
    )
    monkeypatch.setattr(bench, "POSITIONS", tmp_path / "missing")
    status, _, err = run(capsys, "bench")
    assert (status, err.count("\n")) == (2, 1)
    assert "missing: name a file of `moves score` lines" in err


def test_what_takes_long_is_found_in_pieces(capsys, monkeypatch, tmp_path):
    """Interrupted again and again, it finds the same, and counts all the nodes."""
    rows = (POSITIONS / "begin-medium.txt").read_text().splitlines(keepends=True)[:4]
    path = tmp_path / "rows"
    path.write_text("".join(rows))
    whole = json.loads(run(capsys, "bench", "--json", str(path))[1])
    steps = []
    monkeypatch.setattr(command.Progress, "step", lambda _, count=1: steps.append(count))
    monkeypatch.setattr(command, "WAIT_SECONDS", 0.003)
    pieces = json.loads(run(capsys, "bench", "--json", str(path))[1])
    assert steps.count(0) > 4
    assert steps.count(1) == pieces["correct"] == 4
    assert 0.9 < pieces["mean_nodes"] / whole["mean_nodes"] < 2


def test_without_the_native_core_it_says_so_and_gives_the_same_answers(capsys, monkeypatch):
    _, expected, _ = run(capsys, "solve", LATE, "--columns")

    def missing(*_: int, threads: int) -> None:
        raise NativeError("there is no compiler")

    monkeypatch.setattr(command, "NativeSolver", missing)
    status, out, err = run(capsys, "solve", LATE, "--columns")
    assert (status, out) == (0, expected)
    assert err.startswith(
        "note: there is no compiler; solving in Python, in one thread, which is some hundred"
    )
    assert err.count("\n") == 1


def test_what_takes_the_native_core_says_what_is_missing(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as util\n"
        "find = util.find_spec\n"
        "util.find_spec = lambda name, *more: None if name == 'ziglang' else find(name, *more)\n"
    )
    process = subprocess.run(
        [sys.executable, "-m", "engine", "book", "verify"],
        check=False,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr == (
        "error: this takes the native core: "
        "the compiler is not there: python -m pip install -r requirements.txt\n"
    )


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT to send")
def test_ctrl_c_stops_a_long_search_at_once():
    process = subprocess.Popen(
        [sys.executable, "-m", "engine", "solve", "--size", "8x8x4", ""],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with pytest.raises(subprocess.TimeoutExpired):
        process.communicate(timeout=3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=10)
    assert (process.returncode, err) == (130, "stopped\n")


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT to send")
def test_ctrl_c_keeps_what_a_benchmark_has_done(tmp_path):
    """The first position takes microseconds, the second seconds."""
    positions = tmp_path / "positions"
    positions.write_text(f"{LATE} 20\n 1\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "engine", "bench", str(positions)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert "line 1: " in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, err) == (130, "stopped\n")
    assert out.startswith("positions: 1 position, 1 wrong: mean ")
