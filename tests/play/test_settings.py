"""The settings file: by hand, by the program, broken, and not writable."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.loading import load_agent
from play import folders
from play.settings import (
    BEGINS,
    TEMPLATE,
    Settings,
    SettingsError,
    level_name,
    levels,
    load,
    read,
    save,
    settings_path,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "not there yet" / "settings.ini"


def write(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_file_everything_has_its_default(path, capsys):
    assert load(path) == Settings()
    assert not path.exists()
    assert capsys.readouterr().err == ""


def test_the_first_save_writes_an_explained_file(path):
    save(Settings(), path)
    assert path.read_text(encoding="utf-8") == TEMPLATE
    assert read(path) == Settings()


def test_the_articles_file_is_understood(path):
    write(path, "[BASIC]\nDepth = 6\nDebug = True\n")
    assert read(path) == Settings(depth=6, debug=True)


def test_written_by_hand(path):
    write(
        path, "\ufeff; mine\n[GAME]\nopponent: n_step:N_STEPS=5   # strong\nBEGINS = You\n[BOARD]\nrows=8\n"
    )
    assert read(path) == Settings(opponent="n_step:N_STEPS=5", begins="you", rows=8)


def test_the_opponent_may_be_a_level(path):
    assert read(write(path, "[GAME]\nOpponent = Expert\n")).spec == levels()["Expert"]


def test_saving_keeps_what_a_person_wrote(path):
    write(path, "; mine\n[BASIC]\n  depth: 2  ; just right\n\n# the end\n")
    save(Settings(depth=5, rows=8), path)
    assert path.read_text() == "; mine\n[BASIC]\n  depth: 5  ; just right\n\n# the end\n\n[BOARD]\nRows = 8\n"


numbers = st.integers(1, 99)
any_settings = st.builds(
    Settings,
    depth=numbers,
    debug=st.booleans(),
    opponent=st.sampled_from(["", "perfect", "n_step:N_STEPS=5,PRESET='video'", "my agents/main.py"]),
    begins=st.sampled_from(BEGINS),
    seconds=st.floats(0.001, 1000).map(lambda seconds: round(seconds, 3)),
    rows=numbers,
    columns=numbers,
    inarow=numbers,
)


@given(first=any_settings, second=any_settings)
def test_what_is_saved_is_read_again(first, second, tmp_path_factory):
    path = tmp_path_factory.mktemp("settings") / "settings.ini"
    for settings in (first, second):
        save(settings, path)
        assert read(path) == settings


@pytest.mark.parametrize(
    ("text", "line", "complaint"),
    [
        ("Depth = 4\n", 1, "'Depth = 4' stands before the first [SECTION]"),
        ("[BASIC]\n\nDepth\n", 3, "write NAME = VALUE"),
        ("[BASIC]\nDepth = 0\n", 2, "Depth must be a whole number of at least 1, not '0'"),
        ("[BASIC]\nDepth = deep\n", 2, "Depth must be a whole number of at least 1, not 'deep'"),
        ("[BASIC]\nDepth =\n", 2, "Depth must be a whole number of at least 1, not ''"),
        ("[BASIC]\n# Debug = no\nDebug = maybe\n", 3, "Debug must be yes or no, not 'maybe'"),
        ("[BASIC]\nDepth = 4\ndepth = 5\n", 3, "'depth' is there twice in [BASIC]"),
        ("[BASIC]\n[GAME]\n[BASIC]\n", 3, "section [BASIC] is there twice"),
        ("[BASIC]\n[BASCI]\n", 2, "there is no section [BASCI], only [BASIC], [GAME], [BOARD]"),
        ("[DEFAULT]\nDepth = 4\n", 1, "there is no section [DEFAULT], only [BASIC], [GAME], [BOARD]"),
        ("[BASIC]\nDebug = no\nDetph = 4\n", 3, "[BASIC] has no setting 'detph', only Depth, Debug"),
        ("[GAME]\nBegins = me\n", 2, "Begins must be random, you or agent, not 'me'"),
        ("[GAME]\nSeconds = -1\n", 2, "Seconds must be a number above 0, not '-1'"),
        ("[GAME]\nSeconds = inf\n", 2, "Seconds must be a number above 0, not 'inf'"),
        ("[GAME]\nSeconds = nan\n", 2, "Seconds must be a number above 0, not 'nan'"),
        ("[GAME]\nOpponent = n step\n", 2, "Opponent must be Easy, Medium, Expert, Perfect, an agent"),
        (
            "[GAME]\nOpponent = one_step\n  and more\n",
            2,
            "Opponent must be Easy, Medium, Expert, Perfect, an agent",
        ),
        ("[BASIC]\nDepth = 4\n[BOARD]\n\nRows = 6.5\n", 5, "Rows must be a whole number of at least 1"),
    ],
)
def test_a_broken_file_is_reported_with_its_line_and_left_as_it_is(path, text, line, complaint, capsys):
    write(path, text)
    assert load(path) == Settings()
    told = capsys.readouterr().err
    assert f"{path}, line {line}: {complaint}" in told
    assert told.count("\n") == 1
    with pytest.raises(SettingsError, match=f"line {line}"):
        save(Settings(depth=2), path)
    assert path.read_text() == text


def test_a_file_that_is_no_text(path):
    write(path, "")
    path.write_bytes(b"[BASIC]\nDepth = 4\n\xff\xfe")
    with pytest.raises(SettingsError, match="line 3: not UTF-8 text"):
        read(path)


def test_a_folder_in_the_place_of_the_file(tmp_path, capsys):
    assert load(tmp_path) == Settings()
    assert "cannot read the settings" in capsys.readouterr().err


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match="settings"):
        save(Settings(), tmp_path / "file" / "settings.ini")


def test_an_opponent_that_cannot_be_written_is_refused(path):
    save(Settings(), path)
    with pytest.raises(SettingsError):
        save(Settings(opponent="agents #1/main.py"), path)  # the rest would be a comment
    assert read(path) == Settings()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_linked_file_stays_a_link(tmp_path):
    real = write(tmp_path / "dotfiles" / "settings.ini", "[BASIC]\nDepth = 2\n")
    link = tmp_path / "settings.ini"
    link.symlink_to(real)
    save(Settings(depth=3), link)
    assert link.is_symlink()
    assert read(real).depth == 3
    assert os.listdir(real.parent) == ["settings.ini"]  # nothing else is left behind


def test_levels_are_agents():
    assert list(levels()) == ["Easy", "Medium", "Expert", "Perfect"]
    for name, spec in levels().items():
        load_agent(spec)
        assert level_name(spec) == name
    assert levels()["Expert"] == "alpha_beta:DEPTH=6,PRESET=article"
    assert level_name("one_step") == "one_step"


def test_the_depth_is_the_opponents_unless_one_is_named():
    assert Settings().spec == levels()["Medium"]
    assert replace(Settings(), opponent="one_step").spec == "one_step"


def test_the_strongest_agent_there_is(monkeypatch):
    monkeypatch.setattr("play.settings.known_agents", lambda: ["deepening", "random_legal"])
    assert levels()["Perfect"] == "deepening"
    monkeypatch.setattr("play.settings.known_agents", lambda: ["deepening", "perfect"])
    assert levels()["Perfect"] == "perfect"


@pytest.mark.parametrize(
    ("platform", "variables", "config", "data"),
    [
        ("linux", {}, "HOME/.config", "HOME/.local/share"),
        ("linux", {"XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d"}, "/c", "/d"),
        ("linux", {"XDG_CONFIG_HOME": "relative"}, "HOME/.config", "HOME/.local/share"),
        ("darwin", {}, "HOME/Library/Application Support", "HOME/Library/Application Support"),
        ("win32", {}, "HOME/AppData/Roaming", "HOME/AppData/Local"),
        ("win32", {"APPDATA": "/roam", "LOCALAPPDATA": "/local"}, "/roam", "/local"),
    ],
)
def test_folders_of_each_system(platform, variables, config, data, monkeypatch):
    monkeypatch.setattr(sys, "platform", platform)
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    home = str(Path.home())
    assert folders.config_folder() == Path(config.replace("HOME", home)) / "connectx-kit"
    assert folders.data_folder() == Path(data.replace("HOME", home)) / "connectx-kit"
    assert settings_path() == folders.config_folder() / "settings.ini"
