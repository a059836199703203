"""The folder of a tournament: what is written comes back, whatever was cut off or does not fit."""

import json

import pytest

from evaluation.archive import Archive, Game, GameId, read_games, read_settings
from evaluation.errors import InputError
from evaluation.loading import load_agent
from evaluation.referee import play_game

SETTINGS = {"agents": ["a", "b"], "games": 4, "configuration": {"rows": 6}, "sprt": (0.5, 0.6), "anchor": "a"}


def game(number):
    record = play_game([load_agent("random_legal")] * 2)
    return Game(GameId(0, 1, number), ("b", "a") if number % 2 else ("a", "b"), 7, record)


def write(folder, *games):
    archive = Archive(folder, SETTINGS)
    for each in games:
        archive.add(each)
    archive.close()


def reopened(folder):
    """The games an archive finds and what it complains of."""
    said = []
    archive = Archive(folder, SETTINGS)
    games = list(archive.games(said.append))
    archive.close()
    return games, said


def test_games_come_back(tmp_path):
    games = [game(number) for number in (0, 3, 1)]
    write(tmp_path, *games)
    assert list(read_games(tmp_path)) == games
    assert reopened(tmp_path) == (games, [])
    assert read_settings(tmp_path)["agents"] == ["a", "b"]


def test_a_line_is_a_game_as_documented(tmp_path):
    write(tmp_path, one := game(1))
    line = json.loads((tmp_path / "games.jsonl").read_text())
    assert (line["id"], line["agents"], line["seed"]) == ("0-1-1", ["b", "a"], 7)
    assert line["moves"] == list(one.record.moves)
    assert {"opening", "ending", "culprit", "seconds", "stderr", "configuration", "refused"} <= set(line)


@pytest.mark.parametrize("cut", [1, 40, -1])
def test_a_line_that_was_cut_off_costs_that_game_only(tmp_path, cut):
    games = [game(0), game(1), game(2)]
    write(tmp_path, *games)
    path = tmp_path / "games.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]) + lines[2][:cut])
    assert list(read_games(tmp_path)) == games[:2]
    found, said = reopened(tmp_path)
    assert found == games[:2]
    assert said == [f"{path}: line 3 was cut off; that game counts as not played"]
    assert path.read_bytes() == b"".join(lines[:2])
    write(tmp_path, games[2])
    assert reopened(tmp_path) == (games, [])


def test_a_cut_first_line(tmp_path):
    write(tmp_path)
    (tmp_path / "games.jsonl").write_bytes(b"{" + b"x" * 200_000)
    assert reopened(tmp_path)[0] == []
    assert (tmp_path / "games.jsonl").read_bytes() == b""


@pytest.mark.parametrize(
    "line", ["", "null", "[1]", '{"id": "0-1-0"}', '{"id": 3, "agents": [], "seed": 1}', "\x00"]
)
def test_a_line_that_is_no_game_is_told(tmp_path, line):
    write(tmp_path, first := game(0))
    with (tmp_path / "games.jsonl").open("a") as file:
        file.write(line + "\n")
    write(tmp_path, last := game(1))
    games, said = reopened(tmp_path)
    assert games == [first, last]
    assert said == [f"{tmp_path / 'games.jsonl'}: line 2 cannot be read; that game counts as not played"]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"games": 6}, "holds a tournament with games 4, not 6: choose another --out"),
        ({"agents": ["a", "c"]}, 'holds a tournament with agents ["a", "b"], not ["a", "c"]'),
        ({"sprt": None}, "sprt [0.5, 0.6], not null"),
        ({"configuration": {str(n): n for n in range(50)}}, "holds a tournament with other configuration:"),
    ],
)
def test_other_settings_are_refused(tmp_path, change, complaint):
    write(tmp_path, game(0))
    before = (tmp_path / "tournament.json").read_text()
    with pytest.raises(InputError) as error:
        Archive(tmp_path, SETTINGS | change)
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)
    assert (tmp_path / "tournament.json").read_text() == before


def test_the_anchor_may_change(tmp_path):
    write(tmp_path)
    Archive(tmp_path, SETTINGS | {"anchor": "b"}).close()
    assert read_settings(tmp_path)["anchor"] == "b"


def test_more_games_may_be_asked_for_but_not_fewer(tmp_path):
    fixed = SETTINGS | {"sprt": None}
    Archive(tmp_path, fixed).close()
    Archive(tmp_path, fixed | {"games": 10}).close()
    assert read_settings(tmp_path)["games"] == 10
    with pytest.raises(
        InputError, match=r"games 10, not 8: ask for as many or more, or choose another --out"
    ):
        Archive(tmp_path, fixed | {"games": 8})
    assert read_settings(tmp_path)["games"] == 10


def test_a_folder_is_used_by_one_at_a_time(tmp_path):
    pytest.importorskip("fcntl")
    archive = Archive(tmp_path, SETTINGS)
    with pytest.raises(InputError, match="another process is playing in"):
        Archive(tmp_path, SETTINGS)
    archive.close()
    Archive(tmp_path, SETTINGS).close()


def test_a_folder_that_cannot_be_used(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot write to .*file: File exists"):
        Archive(tmp_path / "file", SETTINGS)
    (tmp_path / "tournament.json").write_text("[]")
    with pytest.raises(InputError, match="does not hold the settings of a tournament"):
        Archive(tmp_path, SETTINGS)
    with pytest.raises(InputError, match="holds no tournament"):
        read_settings(tmp_path / "nothing")
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "games.jsonl").write_text("x")
    with pytest.raises(InputError, match=r"holds games but no tournament\.json"):
        Archive(tmp_path / "games", SETTINGS)


def test_ids():
    assert str(GameId(0, 3, 12)) == "0-3-12"
    assert GameId.parse("0-3-12") == GameId(0, 3, 12)
    assert (GameId(0, 3, 12).seats, GameId(0, 3, 13).seats) == ((0, 3), (3, 0))
