"""The restrictions a process puts on itself, by the kernel and by audit hooks; Pythons; half a processor."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from submission import pythons
from submission.worker import Worker

RESTRICTED = str(Path(__file__).parents[2] / "submission" / "restricted.py")
ACTS = {
    "network": "socket.create_connection(('127.0.0.1', int(sys.argv[3])), 5)",
    "files": "open(sys.argv[4], 'w')",
    "memory-files": "os.memfd_create('x')",
    "modules": "__import__('rich')",
    "environment": "os.environ['HOME']",
}
PROGRAM = f"""
import importlib.util, json, os, socket, sys, tempfile
spec = importlib.util.spec_from_file_location("restricted", {RESTRICTED!r})
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
how = module.impose(json.loads(sys.argv[1]), kernel=json.loads(sys.argv[2]))
seen = {{}}
for name, act in {ACTS!r}.items():
    try:
        eval(act)
    except Exception as error:
        seen[name] = type(error).__name__
import numpy
open(os.devnull, "w").close()
print(json.dumps([how, seen]))
"""
REFUSED = {
    "network": "OSError",
    "files": "OSError",
    "memory-files": "PermissionError",
    "modules": "ModuleNotFoundError",
    "environment": "KeyError",
}
AVAILABLE = [name for name in ACTS if name != "memory-files" or hasattr(os, "memfd_create")]


def restricted(names: list[str], kernel: bool, folder: Path) -> tuple[dict, dict]:
    """How the restrictions were made, and what was refused with which exception."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        words = [json.dumps(names), json.dumps(kernel), port, str(folder / "written")]
        done = subprocess.run(
            [sys.executable, "-I", "-B", "-c", PROGRAM, *words],
            capture_output=True,
            text=True,
            check=True,
            cwd=folder,
            env={**os.environ, "HOME": "/"},
        )
    how, seen = json.loads(done.stdout)
    return how, seen


@pytest.mark.parametrize("kernel", [True, False], ids=["kernel", "hooks"])
def test_all_that_is_restricted_is_refused(kernel: bool, tmp_path: Path) -> None:
    how, seen = restricted(AVAILABLE, kernel, tmp_path)
    assert set(how) == set(AVAILABLE)
    assert seen == {name: REFUSED[name] for name in AVAILABLE}
    assert not (tmp_path / "written").exists()


@pytest.mark.parametrize("name", AVAILABLE)
def test_one_restriction_leaves_the_rest(name: str, tmp_path: Path) -> None:
    how, seen = restricted([name], True, tmp_path)
    assert (set(how), seen) == ({name}, {name: REFUSED[name]})


def test_hooks_say_that_they_bind_python_only(tmp_path: Path) -> None:
    how, _ = restricted(["network", "files"], False, tmp_path)
    assert [complete for complete, _ in how.values()] == [False, False]


@pytest.mark.skipif(os.name == "nt", reason="no signal stops a process there")
def test_half_a_processor(tmp_path: Path) -> None:
    main = tmp_path / "main.py"
    main.write_text(
        "import time\nEND = time.thread_time() + 0.5\nwhile time.thread_time() < END: pass\nmax = max"
    )
    setup = {"path": str(main), "restrictions": [], "modules": [], "memory": 0, "speed": 1.0}
    with Worker(setup, tmp_path, 60.0) as worker:
        assert worker.halve()
        loaded = worker.ask("load")
    assert loaded["error"] is None
    assert loaded["seconds"] > 0.75  # at the least, whatever else the machine does


def test_pythons_are_found_once_and_those_that_do_not_run_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.name == "nt":
        pytest.skip("the fake interpreters are scripts with a #! line")

    def interpreter(folder: str, name: str, answer: str) -> Path:
        path = tmp_path / folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{answer}\n")
        path.chmod(0o755)
        return path

    interpreter("a", "python3.12", "echo pyenv: not chosen >&2; exit 127")
    interpreter("a", "python3.13", "echo 3 13 0 False")
    better = interpreter("b", "python3.13", "echo 3 13 1 True")
    only = interpreter("b", "python3.10", "echo 3 10 4 False")
    interpreter("b", "python3", "echo 3 9 9 True")
    interpreter("b", "python", "echo {} {} {} True".format(*sys.version_info[:3]))
    monkeypatch.setenv("PATH", f"{tmp_path / 'a'}{os.pathsep}{tmp_path / 'b'}")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("UV_PYTHON_INSTALL_DIR", str(tmp_path))
    found = pythons.pythons()
    assert [(str(python), python.path, python.numpy) for python in found] == [
        ("3.10.4", only, False),
        ("3.13.1", better, True),
    ]
