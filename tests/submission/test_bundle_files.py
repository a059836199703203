"""The commands bundle and where: files, archives, sizes, and lines traced to the sources."""

import io
import os
import re
import subprocess
import sys
import tarfile
import traceback
from pathlib import Path

import pytest

from evaluation.errors import InputError
from submission.bundle import Format, bundle, make_bundle, save
from submission.where import mapped, place, read_bundle, where

ROOT = Path(__file__).parents[2]


def command(*arguments: str, text: str = "", folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "40"}
    return subprocess.run(
        [sys.executable, "-m", "submission", *arguments],
        check=False,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        input=text,
    )


@pytest.mark.parametrize("arguments", [["--format", "tar.gz"], ["-o", "submission.tar.gz"]])
def test_an_archive_has_main_py_at_its_root(arguments: list[str], tmp_path: Path) -> None:
    done = command("bundle", "one_step", *arguments, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    path = tmp_path / "submission.tar.gz"
    assert done.stdout.startswith(f"submission.tar.gz: {path.stat().st_size:,} bytes, made from\n")
    with tarfile.open(path) as archive:
        (member,) = archive.getmembers()
        content = archive.extractfile(member)
        assert content is not None
        assert content.read() == bundle("one_step").encode()
    assert (member.name, member.mtime, member.uid, member.gid, member.uname) == ("main.py", 0, 0, 0, "")
    assert member.isreg()


def test_archives_are_the_same_bytes_every_time(tmp_path: Path) -> None:
    made = make_bundle("one_step")
    first, second = (save(made, tmp_path / name, Format.ARCHIVE).read_bytes() for name in "ab")
    assert first == second
    assert read_bundle(save(made, tmp_path / "a.tar.gz")) == made.text
    assert save(made, tmp_path / "b.tar.gz", Format.FILE).read_text() == made.text


def test_sizes_add_up_and_data_is_named(tmp_path: Path) -> None:
    (tmp_path / "book.bin").write_bytes(b"book" * 5000)
    (tmp_path / "mine.py").write_text(
        'from engine.resources import data\n\n\ndef agent(obs, config):\n    return len(data("book.bin"))\n'
    )
    done = command("bundle", "mine.py", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    total, *parts = re.findall(r"([\d,]+) bytes, (?:made|from)", done.stdout)
    size = (tmp_path / "main.py").stat().st_size
    assert int(total.replace(",", "")) == size
    assert 0.5 * size < sum(int(part.replace(",", "")) for part in parts) < size
    assert re.search(r"\n    book.bin: 20,000 bytes, \d+ as text\n", done.stdout)


def test_where_names_module_line_and_text(tmp_path: Path) -> None:
    text = bundle("one_step")
    (tmp_path / "main.py").write_text(text)
    lines = text.split("\n")
    number = next(number for number, line in enumerate(lines, 1) if line.startswith("def agent("))
    done = command("where", "main.py", str(number), "1", folder=tmp_path)
    source = (ROOT / "agents/one_step.py").read_text().split("\n")
    line = source.index(lines[number - 1]) + 1
    assert done.stdout == (
        f"main.py:{number}: agents/one_step.py:{line}: {lines[number - 1]}\nmain.py:1: the bundle's header\n"
    )


def test_where_maps_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "helper.py").write_text("import math\n\n\ndef fail(value):\n    return math.sqrt(value)\n")
    (tmp_path / "mine.py").write_text(
        "from helper import fail\n\n\ndef agent(obs, config):\n    return fail(-1)\n"
    )
    path = save(make_bundle(str(tmp_path / "mine.py")), tmp_path / "main.py")
    namespace: dict[str, object] = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    try:
        namespace["agent"](None, None)  # type: ignore[operator]
    except ValueError:
        trace = traceback.format_exc()
    monkeypatch.setattr(sys, "stdin", io.StringIO(trace))
    where(path)
    shown = capsys.readouterr().out
    assert re.search(r'main\.py", line \d+ \(mine\.py:5\), in agent\n', shown)
    assert re.search(r'main\.py", line \d+ \(helper\.py:5\), in fail\n', shown)
    assert re.sub(r" \((mine|helper)\.py:5\)", "", shown) == trace


def test_only_lines_of_the_bundle_are_mapped() -> None:
    text = bundle("one_step")
    for line in (
        '  File "/a/other.py", line 30, in f',
        "line 30 of something",
        '  File "domain.py", line 30',
    ):
        assert mapped(text, line) == line
    assert mapped(text, '  File "C:\\a\\main.py", line 2, in f') == (
        '  File "C:\\a\\main.py", line 2 (the header), in f'
    )
    assert re.fullmatch(r"main\.py:30 \(engine/board\.py:\d+\): error", mapped(text, "main.py:30: error"))


def test_mistakes_of_a_person_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 0 is not in this file: it has lines 1 to"):
        place(bundle("one_step"), 0)
    for name, content in {"none.py": b"", "bad.tar.gz": b"no archive", "latin.py": b"\xff"}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match="bundle"):
            read_bundle(tmp_path / name)
    with pytest.raises(InputError, match="No such file"):
        read_bundle(tmp_path / "missing.py")
