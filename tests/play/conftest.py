"""A driver of the real window, with SDL's dummy screen and a clock that the test turns."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

os.environ["SDL_VIDEODRIVER"] = "dummy"

import pygame

from play.drawing import MenuLayout, SceneLayout
from play.records import Records
from play.scene import Scene
from play.settings import Settings
from play.window import Window

TICK = 0.04  # seconds of the test's clock for a frame
PATIENCE = 60.0  # real seconds


class Driver:
    """Presses, clicks and looks as a person does; frames pass as fast as the machine can draw them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.time = 1000.0
        self.records = Records(folder / "records.sqlite3")
        self.window: Window
        self.is_open = False

    def open(self, watch: tuple[str, str] | None = None, **settings: object) -> Window:
        """Opens the window on its menu."""
        self.window = Window(Settings(**settings), watch, self.records, lambda: self.time)  # type: ignore[arg-type]
        pygame.event.clear()
        self.frames(1)
        return self.window

    @property
    def scene(self) -> Scene:
        assert self.window.scene
        return self.window.scene

    def frames(self, number: int) -> None:
        for _ in range(number):
            self.time += TICK
            self.is_open = self.window.frame()

    def press(self, *keys: int) -> None:
        """Presses keys one after the other, each in a frame of its own."""
        for key in keys:
            pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=key, mod=0, unicode=""))
            self.frames(1)

    def click(self, point: tuple[int, int], button: int = 1) -> None:
        """Moves the mouse to a point and presses a button there."""
        pygame.event.post(pygame.event.Event(pygame.MOUSEMOTION, pos=point, rel=(0, 0), buttons=(0, 0, 0)))
        self.frames(1)
        pygame.event.post(pygame.event.Event(pygame.MOUSEBUTTONDOWN, pos=point, button=button))
        self.frames(1)

    def until(self, condition: Callable[[], object]) -> None:
        """Frames until something has come true; processes take real time to answer."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, "it never came true"
            self.frames(1)
            time.sleep(0.003)

    def choose(self, label: str, how: str = "keys") -> None:
        """Chooses the line of the menu with this label: by arrow keys and Enter, or by the mouse."""
        menu = self.window.menu
        target = [item.label for item in menu.items].index(label)
        step = pygame.K_DOWN if target > menu.selected else pygame.K_UP
        if how == "keys":
            self.press(*[step] * abs(target - menu.selected), pygame.K_RETURN)
            return
        while target not in self.rows():  # turn the wheel until it is in sight
            before = menu.selected
            turn = -1 if target > max(self.rows()) else 1
            pygame.event.post(pygame.event.Event(pygame.MOUSEWHEEL, x=0, y=turn))
            self.frames(1)
            assert menu.selected != before
        self.click(self.rows()[target].center)

    def rows(self) -> dict[int, pygame.Rect]:
        return MenuLayout.of(pygame.display.get_window_size(), self.window.menu).rows

    def layout(self) -> SceneLayout:
        return SceneLayout.of(pygame.display.get_window_size(), self.scene)

    def drop(self, column: int, how: str = "keys") -> None:
        """The person's move, when it is the person's turn and the last disc lies still."""
        scene = self.scene
        self.until(lambda: scene.person_to_move and not scene.is_falling(self.time))
        if how == "mouse":
            self.click(self.layout().centre(column, 2))
            return
        while scene.cursor != column:
            self.press(pygame.K_RIGHT if column > scene.cursor else pygame.K_LEFT)
        self.press(pygame.K_RETURN)

    def play(self, *columns: int, how: str = "keys") -> None:
        for column in columns:
            self.drop(column, how)

    def finish(self) -> None:
        """Frames until the game is over and its end is told."""
        self.until(lambda: self.scene.is_over and not self.scene.is_falling(self.time))
        self.frames(2)

    def agent(self, name: str, body: str) -> str:
        """The spec of an agent in a file; `body` are the lines of its function."""
        path = self.folder / f"{name}.py"
        lines = "\n".join(f"    {line}" for line in body.splitlines())
        path.write_text(f"def agent(obs, config):\n{lines}\n", encoding="utf-8")
        return str(path)

    def script(self, *columns: int) -> str:
        """The spec of an agent that plays these columns in turn, whoever begins."""
        return self.agent("script", f"return {columns}[obs.step // 2]")

    def picture(self, name: str) -> Path:
        """Saves what is on the screen."""
        path = self.folder / f"{name}.png"
        pygame.image.save(pygame.display.get_surface(), path)
        return path


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Driver]:
    """A driver whose settings and records are kept in the test's own folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")))
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    driver = Driver(tmp_path)
    yield driver
    if hasattr(driver, "window"):
        driver.window.close()
