"""The core as a bundle carries it, loaded without a file that has a name."""

import ctypes
import os
import platform
from pathlib import Path

import pytest

from engine.native import build, embedded

OPENED = embedded.opened
HERE = (platform.system(), platform.machine())

pytestmark = pytest.mark.skipif(
    HERE != embedded.CORE_TARGET or not embedded.processor_flags() >= embedded.CORE_NEEDS,
    reason="bundles carry a core for Linux on x86-64-v3 only",
)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("core") / "core.so"
    try:
        build.compile_core("x86_64-linux-gnu", "x86_64_v3", path)
    except build.NativeError as error:
        pytest.skip(str(error))
    return path.read_bytes()


@pytest.fixture
def resources(monkeypatch: pytest.MonkeyPatch, compiled: bytes) -> dict[str, bytes]:
    """What the bundle has, for a process that has not loaded it before.

    The files stay open: the loader of Linux takes a later one of the same number for the same library.
    """
    files = {"core.so": compiled, "core.hash": build.source_hash().to_bytes(8, "big")}
    monkeypatch.setattr(embedded, "data", files.__getitem__)
    monkeypatch.setattr(embedded, "opened", {}.get)
    return files


def open_files() -> set[str]:
    """The open files of this process, but for the one that lists them."""
    return {name for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")}


def no_memory_files(name: str, flags: int = 0) -> int:
    raise OSError("memory files are not allowed here")


def hash_of(path: Path) -> int:
    function = ctypes.CDLL(str(path)).source_hash
    function.restype = ctypes.c_uint64
    return int(function())


def test_the_library_is_loaded_from_memory(resources: dict[str, bytes]) -> None:
    path = embedded.library()
    assert os.readlink(path).startswith("/memfd:")
    assert hash_of(path) == embedded.source_hash() == build.source_hash()


def test_one_file_serves_all_bundles_of_a_process(
    resources: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "opened", OPENED)
    path = embedded.library()
    before = open_files()
    assert embedded.library() == path
    assert open_files() == before


def test_without_memory_files_a_temporary_one_without_a_name(
    resources: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "memfd_create", no_memory_files)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert hash_of(embedded.library()) == build.source_hash()
    assert list(tmp_path.iterdir()) == []


def test_a_python_without_memory_files(
    resources: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delattr(os, "memfd_create")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert hash_of(embedded.library()) == build.source_hash()


def test_says_why_there_is_no_place_for_the_library(
    resources: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "memfd_create", no_memory_files)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    told = set()
    for _ in range(3):
        with pytest.raises(embedded.NativeError) as caught:
            embedded.library()
        told.add(str(caught.value))
    assert told == {
        "the native core cannot be loaded: in memory: memory files are not allowed here; "
        "in a temporary file: No such file or directory"
    }, "each time the same words, so that they are said once"


def test_says_that_the_bytes_are_no_library_and_leaves_nothing_open(resources: dict[str, bytes]) -> None:
    resources["core.so"] = b"not a library"
    before = open_files()
    with pytest.raises(embedded.NativeError, match="cannot be loaded") as caught:
        embedded.library()
    assert "/proc" not in str(caught.value)
    assert open_files() == before


def test_says_what_the_processor_lacks(resources: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    flags = embedded.processor_flags() - {"avx2", "bmi2"}
    monkeypatch.setattr(embedded, "processor_flags", lambda: flags)
    with pytest.raises(
        embedded.NativeError, match="the processor lacks avx2, bmi2, which the native core needs"
    ):
        embedded.library()


@pytest.mark.parametrize("machine", [("Linux", "aarch64"), ("Darwin", "x86_64"), ("Windows", "AMD64")])
def test_other_machines(
    resources: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, machine: tuple[str, str]
) -> None:
    monkeypatch.setattr(platform, "system", lambda: machine[0])
    monkeypatch.setattr(platform, "machine", lambda: machine[1])
    with pytest.raises(embedded.NativeError, match=f"no native core for {machine[0]} on {machine[1]}"):
        embedded.library()
