"""The native core compiled with the sanitizers: no undefined behaviour, no access outside its memory.

`check_core.c` plays on 22 kinds of boards, up to 128 bits, and compares every score with a plain search; and
what two threads find together with what one finds alone.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine.native import build

FOLDER = Path(__file__).parent
COMMON = ["-std=gnu11", "-O1", "-g", "-pthread", f"-I{build.SOURCE.parent}"]


def compile_and_run(
    compiler: list[str], target: Path, positions: int, source: str = "check_core.c"
) -> subprocess.CompletedProcess[str]:
    command = [*compiler, *COMMON, str(FOLDER / source), "-o", str(target)]
    subprocess.run(command, check=True, timeout=120)
    environment = {**os.environ, "UBSAN_OPTIONS": "print_stacktrace=1"}
    return subprocess.run(
        [str(target), str(positions)],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        env=environment,
    )


@pytest.mark.skipif(not shutil.which("gcc"), reason="the pinned compiler has no address sanitizer, gcc has")
def test_no_access_outside_its_memory_and_no_undefined_behaviour(tmp_path):
    sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    done = compile_and_run(["gcc", *sanitizers], tmp_path / "check.exe", 60)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert int(done.stdout) >= 22 * 60
    done = compile_and_run(["gcc", *sanitizers], tmp_path / "windows.exe", 40, "check_windows.c")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert int(done.stdout) >= 1000


@pytest.mark.skipif(not shutil.which("gcc"), reason="the pinned compiler has no thread sanitizer, gcc has")
def test_threads_share_their_memory_in_order(tmp_path):
    done = compile_and_run(["gcc", "-fsanitize=thread"], tmp_path / "check.exe", 20)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.mark.slow
def test_no_undefined_behaviour_for_the_pinned_compiler(tmp_path):
    """Slow on its first run, which makes the compiler build its own sanitizer library."""
    zig = [sys.executable, "-m", "ziglang", "cc", "-fsanitize=undefined", "-fno-sanitize-recover=undefined"]
    done = compile_and_run(zig, tmp_path / "check.exe", 2000)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert int(done.stdout) >= 22 * 2000
    done = compile_and_run(zig, tmp_path / "windows.exe", 1000, "check_windows.c")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
