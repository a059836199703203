"""Frames a second of the window: with nobody thinking, with `deepening` in its process, and as a thread."""

import os
import tempfile
from pathlib import Path
from threading import Thread
from time import perf_counter

import pygame

from evaluation.loading import load_agent
from play.records import Records
from play.session import ask
from play.settings import Settings
from play.window import FRAMES, Window

SECONDS = 4.0


def frames_a_second(window: Window) -> float:
    """How many frames there are in a second, of the 60 there should be."""
    pace = pygame.time.Clock()
    start, frames = perf_counter(), 0
    while perf_counter() - start < SECONDS:
        window.frame()
        pace.tick(FRAMES)
        frames += 1
    return frames / (perf_counter() - start)


def measure(folder: Path, begins: str) -> float:
    """Frames a second of a game in which nothing but the thinking of who begins goes on."""
    settings = Settings(opponent="deepening", begins=begins, seconds=3 * SECONDS)
    window = Window(settings, records=Records(folder / "records.sqlite3"))
    try:
        pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_RETURN))
        start = perf_counter()
        while perf_counter() - start < 2:  # the process starts
            window.frame()
        found = frames_a_second(window)
        assert window.scene
        assert (window.scene.thinking_since is None) == (begins == "you")
        assert not window.scene.board.ply
        if begins == "agent":
            return found
        beside = Thread(target=ask, args=(load_agent("deepening"), window.scene.board, SECONDS * 1.5))
        beside.start()
        threaded = frames_a_second(window)
        beside.join()
        print(f"nobody thinks: {found:.0f} frames/s; deepening as a thread: {threaded:.0f}")
        return threaded
    finally:
        window.close()


def run() -> None:
    os.environ["SDL_VIDEODRIVER"] = "dummy"
    with tempfile.TemporaryDirectory() as folder:
        threaded = measure(Path(folder), "you")
        process = measure(Path(folder), "agent")
    print(
        f"deepening in its process: {process:.0f} frames/s, {process / threaded:.1f} times those of a thread"
    )
