"""Files inside a bundle: what `engine.resources.data` reads there."""

import io
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kaggle_environments.agent import get_last_callable

from engine.native.build import source_hash
from evaluation.loading import load_agent
from submission.bundle import BundleError, bundle, locate, make_bundle
from submission.embedding import CORE_FILES, LABEL, WIDTH, packed

READS = "from engine.resources import data\n\n\ndef agent(obs, config):\n    return {value}\n"
CONTENTS = [
    b"",
    b"\0",
    b"'''\"\"\"\\\r\n",
    bytes(range(256)) * 3,
    random.Random(1).randbytes(5000),
]


def entry(folder: Path, value: str, **files: bytes) -> Path:
    """Writes an agent that returns `value`, and `files` (`weights_npy` is weights.npy) beside it."""
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_bytes(content)
    path = folder / "main.py"
    path.write_text(READS.format(value=value))
    return path


@pytest.mark.parametrize("content", CONTENTS, ids=[f"{len(content)} bytes" for content in CONTENTS])
def test_a_bundle_reads_what_the_package_reads(content: bytes, tmp_path: Path) -> None:
    path = entry(tmp_path, 'data("book.bin")', book_bin=content)
    text = bundle(str(path))
    (tmp_path / "book.bin").unlink()
    assert get_last_callable(text)(None, None) == content


def test_the_package_reads_the_file_beside_the_module(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir("/")
    path = entry(tmp_path, 'data("book.bin")', book_bin=b"content")
    assert load_agent(str(path))({}, {}) == b"content"


def test_weights_of_a_network(tmp_path: Path) -> None:
    weights = {"first": np.linspace(-1, 1, 42).reshape(6, 7), "second": np.ones(7, np.float32)}
    packed_weights = io.BytesIO()
    np.savez(packed_weights, **weights)
    path = entry(tmp_path, 'dict(np.load(io.BytesIO(data("net.npz"))))', net_npz=packed_weights.getvalue())
    path.write_text("import io\nimport numpy as np\n" + path.read_text())
    loaded = get_last_callable(bundle(str(path)))(None, None)
    assert loaded.keys() == weights.keys()
    for name, values in weights.items():
        assert loaded[name].dtype == values.dtype
        assert np.array_equal(loaded[name], values)


def test_lines_are_of_fixed_width_and_belong_to_the_data(tmp_path: Path) -> None:
    content = CONTENTS[-1]
    text = bundle(str(entry(tmp_path, 'data("book.bin")', book_bin=content)))
    data = packed(content)
    lines = text.split("\n")
    first = lines.index(data[:WIDTH])
    count = -(-len(data) // WIDTH)
    assert count > 10
    assert "".join(lines[first : first + count]) == data
    assert {len(line) for line in lines[first : first + count - 1]} == {WIDTH}
    assert {(locate(text, number) or ("", 0))[0] for number in range(first + 1, first + count)} == {LABEL}
    assert bundle(str(tmp_path / "main.py")) == text


def test_damaged_data_is_named_at_once(tmp_path: Path) -> None:
    path = entry(tmp_path, 'data("book.bin")', book_bin=CONTENTS[-1])
    text, content = bundle(str(path)), packed(CONTENTS[-1])
    place = text.index(content[:WIDTH]) + 40
    for damaged in (
        text[:place] + chr(ord(text[place]) ^ 1) + text[place + 1 :],
        text[:place] + text[place + 1 :],
    ):
        with pytest.raises(ValueError, match=r"book.bin is damaged in this file: bundle again"):
            get_last_callable(damaged)(None, None)


@pytest.mark.parametrize(
    ("value", "refusal"),
    [
        ("data(obs)", "main.py:5: the bundler cannot tell what file this reads; write"),
        ('data(name="book.bin")', "main.py:5: the bundler cannot tell what file this reads; write"),
        ("map(data, 'ab')", "main.py:5: `data` is used for more than to read a file; only write"),
        ("(lambda data: 1)(data)", "main.py:5: `data` is "),
        ('data("missing.bin")', "main.py:5: `missing.bin` cannot be read: No such file or directory; put it"),
    ],
)
def test_refused(value: str, refusal: str, tmp_path: Path) -> None:
    with pytest.raises(BundleError) as error:
        bundle(str(entry(tmp_path, value)))
    assert str(error.value).startswith(refusal)


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/book.bin").write_bytes(b"other")
    (tmp_path / "pkg/helper.py").write_text('from engine.resources import data\n\nBOOK = data("book.bin")\n')
    path = entry(tmp_path, '[BOOK, data("book.bin")]', book_bin=b"content")
    path.write_text("from pkg.helper import BOOK\n" + path.read_text())
    with pytest.raises(
        BundleError, match=r"main.py:6: `book.bin` is another file than that of pkg/helper.py"
    ):
        bundle(str(path))
    (tmp_path / "pkg/book.bin").write_bytes(b"content")
    assert get_last_callable(bundle(str(path)))(None, None) == [b"content", b"content"]


def test_perfect_carries_the_native_core_within_its_limit() -> None:
    made = make_bundle("perfect")
    assert len(made.text.encode()) < 300_000
    labels = [source.label for source in made.sources]
    assert "engine/native/embedded.py" in labels
    assert "engine/native/build.py" not in labels
    agent = get_last_callable(made.text)
    reader = agent.__globals__["data"]
    assert reader("core.so") == CORE_FILES["core.so"]()
    assert reader("core.so").startswith(b"\x7fELF")
    assert agent.__globals__["source_hash"]() == source_hash()
