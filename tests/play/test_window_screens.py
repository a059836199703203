"""A picture of every screen: each is drawn, fits the window, and differs from all others."""

from __future__ import annotations

import pygame

from play.menu import Page


def test_every_screen_has_a_picture(driver):
    """The pictures are kept in the test's folder, to be looked at."""
    pictures = {}

    def take(name: str) -> None:
        driver.frames(1)
        path = driver.picture(name)
        picture = pygame.image.load(path)
        assert picture.get_size() == pygame.display.get_window_size()
        colours = {tuple(picture.get_at((x, y))) for x in range(0, 900, 7) for y in range(0, 820, 7)}
        assert len(colours) > 40, f"{name} is blank"
        pictures[name] = path.read_bytes()

    window = driver.open(opponent=driver.script(3, 3, 2, 2, 5, 5), begins="you")
    for page in Page:
        window.menu.home()
        if page is not Page.MAIN:
            window.menu.open(page)
        take(f"menu-{page.name.lower()}")
    window.menu.home()
    driver.choose("Start")
    take("your-turn")
    driver.drop(3)
    driver.frames(4)
    take("falling")
    driver.until(lambda: driver.scene.thinking_since is not None)
    take("thinking")
    driver.play(2, 4)
    driver.press(pygame.K_a, pygame.K_h)
    driver.until(lambda: driver.scene.board.ply == 6 and not driver.scene.is_falling(driver.time))
    driver.until(lambda: driver.scene.values and driver.scene.values.depth >= 3)
    driver.press(pygame.K_h)
    driver.until(lambda: driver.scene.hint is not None)
    take("analysis-and-hint")
    driver.press(pygame.K_a)
    driver.play(5)
    driver.finish()
    assert driver.scene.headline == "You win!"
    take("won")
    window.close()

    window = driver.open(opponent=driver.script(6, 6, 6, 6), begins="agent")
    driver.choose("Start")
    driver.play(0, 1, 0)
    driver.finish()
    take("lost")
    window.close()

    window = driver.open(opponent=driver.script(1, 1, 0), begins="you", rows=3, columns=2, inarow=3)
    driver.choose("Start")
    driver.play(0, 0, 1)
    driver.finish()
    take("draw")
    window.close()

    agent = driver.agent("left", "return [c for c in range(config.columns) if not obs.board[c]][0]")
    window = driver.open(watch=("random_legal", agent))
    driver.until(lambda: driver.scene.board.ply == 3)
    driver.press(pygame.K_SPACE)
    driver.until(lambda: not driver.scene.is_falling(driver.time))
    take("watching-paused")
    window.close()

    window = driver.open(opponent=driver.agent("bad", "raise ValueError('no idea')"), begins="agent")
    driver.choose("Start")
    driver.finish()
    take("forfeit")
    assert len(set(pictures.values())) == len(pictures)
