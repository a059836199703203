"""Work files: what is kept, what is left out, what is refused."""

import pytest

from engine.book_build import Answers, Scores
from engine.book_work import WorkFile, fingerprint
from engine.console import UsageError

WANTED = [["12", "13"], ["21"]]


def test_what_was_appended_is_read(tmp_path) -> None:
    work = WorkFile(tmp_path / "work", "head")
    assert work.read(WANTED) == {}
    work.append(["12", "13"], [4, -5])
    assert WorkFile(tmp_path / "work", "head").read(WANTED) == {"12": [4, -5]}
    work.append(["21"], [0])
    assert work.read(WANTED) == {"12": [4, -5], "21": [0]}
    assert work.read([["21"]]) == {"21": [0]}


@pytest.mark.parametrize("cut", range(1, 9))
def test_a_line_cut_short_is_gone_for_good(tmp_path, cut: int) -> None:
    """`12 4 -15` cut to `12 4 -1` is a line like any other."""
    work = WorkFile(tmp_path / "work", "head")
    work.read(WANTED)
    work.append(["21"], [7])
    work.append(["12", "13"], [4, -15])
    data = work.path.read_bytes()
    work.path.write_bytes(data[:-cut])
    for _ in range(2):
        assert work.read(WANTED) == {"21": [7]}
    work.append(["12", "13"], [4, -15])
    assert work.path.read_bytes() == data


def test_a_head_cut_short_begins_anew(tmp_path) -> None:
    (tmp_path / "work").write_text("he")
    work = WorkFile(tmp_path / "work", "head")
    assert work.read(WANTED) == {}
    work.append(["21"], [7])
    assert work.read(WANTED) == {"21": [7]}


@pytest.mark.parametrize("line", [b"12 4", b"12 4 x", b"12 4 5 6", b"", b"\xff\xfe 1", b"99 1 2"])
def test_damaged_lines_are_left_out(tmp_path, line: bytes) -> None:
    (tmp_path / "work").write_bytes(b"head\n" + line + b"\n21 7\n")
    assert WorkFile(tmp_path / "work", "head").read(WANTED) == {"21": [7]}


def test_another_head_is_refused(tmp_path) -> None:
    (tmp_path / "work").write_text("head\n21 7\n")
    with pytest.raises(UsageError, match="of another book or core: delete it, or give another --file"):
        WorkFile(tmp_path / "work", "other").read(WANTED)


def test_a_fingerprint_is_of_what_is_done_what_is_known_and_for_which_positions() -> None:
    prints = {
        fingerprint(Scores(), WANTED),
        fingerprint(Scores(), [["12"], ["13", "21"]]),
        fingerprint(Answers({0: bytes(1)}), WANTED),
        fingerprint(Answers({0: b"1"}), WANTED),
    }
    assert len(prints) == 4
    assert fingerprint(Scores(), WANTED) == fingerprint(Scores(), WANTED)
