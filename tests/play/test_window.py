"""The real window: the menu by key and by mouse, whole games, resizing, closing in mid-thought."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pygame
import pytest

from evaluation.loading import known_agents
from play import settings as stored
from play.drawing import MenuLayout
from play.menu import Menu, Page
from play.settings import Settings, levels
from play.window import run

HOWS = ("keys", "mouse")
ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "Opponent": Page.OPPONENT,
    "Who begins": Page.BEGINS,
    "Board": Page.BOARD,
    "Watch two agents": Page.WATCH,
    "Settings": Page.SETTINGS,
    "Credits": Page.CREDITS,
}
FOREVER = "while True:\n    pass"


def alive(pid: int | None) -> bool:
    """Whether a process runs; one that is dead and not yet waited for does not."""
    assert pid
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.parametrize("how", HOWS)
def test_every_page_opens_from_the_main_menu_and_leads_back(driver, how):
    window = driver.open()
    assert [item.label for item in window.menu.items] == ["Start", *PAGES, "Quit"]
    for label, page in PAGES.items():
        driver.choose(label, how)
        assert window.menu.page is page
        driver.press(pygame.K_BACKSPACE)
        assert window.menu.page is Page.MAIN
        assert window.menu.item.label == label  # where it was left
    driver.choose("Credits", how)
    driver.choose("Back", how)
    assert window.menu.page is Page.MAIN
    driver.choose("Credits", how)
    driver.click((3, 3), button=3)  # the right button leads back as well
    assert window.menu.page is Page.MAIN


@pytest.mark.parametrize("how", HOWS)
def test_quit_closes_the_window(driver, how):
    driver.open()
    driver.choose("Quit", how)
    assert not driver.is_open
    assert not pygame.display.get_init()


def test_escape_goes_to_quit_but_does_not_choose_it(driver):
    window = driver.open()
    driver.press(pygame.K_ESCAPE)
    assert window.menu.item.label == "Quit"
    assert pygame.display.get_init()


@pytest.mark.parametrize("how", HOWS)
def test_every_opponent_can_be_chosen(driver, how):
    window = driver.open()
    pygame.display.set_mode((900, 600))  # the list is longer than the window
    window.menu.open(Page.OPPONENT)
    labels = [item.label for item in window.menu.items]
    assert labels == [*levels(), *known_agents(), "kaggle:negamax", "kaggle:random"]
    window.menu.back()
    for label in labels:
        driver.choose("Opponent", how)
        driver.choose(label, how)
        assert window.menu.page is Page.MAIN
        assert window.menu.settings.spec == levels().get(label, label)
        assert stored.read() == window.menu.settings


@pytest.mark.parametrize("how", HOWS)
def test_who_begins(driver, how):
    window = driver.open()
    for label, value in (("You", "you"), ("Agent", "agent"), ("Random", "random")):
        driver.choose("Who begins", how)
        driver.choose(label, how)
        assert window.menu.settings.begins == stored.read().begins == value


@pytest.mark.parametrize(
    ("page", "label", "field", "values"),
    [
        ("Board", "Rows", "rows", (6, 7)),
        ("Board", "Columns", "columns", (7, 8)),
        ("Board", "In a row", "inarow", (4, 5)),
        ("Settings", "Time for a move", "seconds", (2, 5)),
        ("Settings", "Depth", "depth", (4, 5)),
        ("Settings", "Debug", "debug", (False, True)),
    ],
)
def test_numbers_change_by_arrow_keys_and_by_clicks_on_the_arrows(driver, page, label, field, values):
    less, more = values
    window = driver.open()
    driver.choose(page)
    index = [item.label for item in window.menu.items].index(label)
    window.menu.select(index)
    left, right = MenuLayout.of(pygame.display.get_window_size(), window.menu).arrows[index]
    for more_of_it, less_of_it in (
        (lambda: driver.press(pygame.K_RIGHT), lambda: driver.press(pygame.K_LEFT)),
        (lambda: driver.click(right.center), lambda: driver.click(left.center)),
    ):
        more_of_it()
        assert getattr(window.menu.settings, field) == getattr(stored.read(), field) == more
        less_of_it()
        assert getattr(window.menu.settings, field) == getattr(stored.read(), field) == less


@pytest.mark.parametrize("how", HOWS)
def test_the_standard_board_is_one_choice_away(driver, how):
    window = driver.open(rows=9, columns=9, inarow=5)
    driver.choose("Board", how)
    driver.choose("Standard board", how)
    settings = window.menu.settings
    assert (settings.rows, settings.columns, settings.inarow) == (6, 7, 4)


def test_only_what_the_menu_changed_is_written(driver):
    stored.save(Settings(columns=9))
    window = driver.open(opponent="one_step")  # as the command line may have it
    driver.choose("Who begins")
    driver.choose("You")
    assert stored.read() == Settings(columns=9, begins="you")
    assert not window.message


def test_a_broken_settings_file_is_reported_and_left(driver):
    path = stored.settings_path()
    path.parent.mkdir(parents=True)
    path.write_text("[BASIC]\nDepth = deep\n")
    window = driver.open()
    driver.choose("Who begins")
    driver.choose("You")
    assert "line 2" in window.message
    assert path.read_text() == "[BASIC]\nDepth = deep\n"
    driver.press(pygame.K_UP)
    assert not window.message


@pytest.mark.parametrize("how", HOWS)
def test_a_game_won_and_its_record(driver, how):
    driver.open(opponent=driver.script(6, 6, 6, 5), begins="you")
    driver.choose("Start", how)
    driver.play(0, 1, 2, 3, how=how)
    driver.finish()
    assert driver.scene.headline == "You win!"
    assert "7 discs" in driver.scene.notice
    driver.frames(5)
    assert driver.records.standing(driver.script(6, 6, 6, 5), driver.scene.board).games == 1


def test_a_game_lost(driver):
    driver.open(opponent=driver.script(6, 6, 6, 6), begins="agent")
    driver.choose("Start")
    driver.play(0, 1, 0)
    driver.finish()
    assert driver.scene.headline == "script wins"
    assert "won this time" in driver.scene.notice


def test_a_game_drawn_on_another_board_and_the_next_one(driver):
    driver.open(opponent=driver.script(1, 1, 0), begins="you", rows=3, columns=2, inarow=3)
    driver.choose("Start")
    driver.play(0, 0, 1)
    driver.finish()
    assert driver.scene.headline == "A draw"
    assert "1 drawn" in driver.scene.notice
    driver.press(pygame.K_RETURN)
    assert driver.scene.board.ply == 0


def test_discs_fall_and_the_person_waits_for_them(driver):
    driver.open(opponent=driver.script(6, 6), begins="you")
    driver.choose("Start")
    driver.press(pygame.K_RETURN)
    assert driver.scene.board.ply == 1
    fall = driver.scene.fall
    assert fall
    heights = []
    while driver.scene.is_falling(driver.time):
        heights.append(fall.above(driver.time))
        driver.press(pygame.K_RETURN)  # in vain
    assert heights[0] > heights[len(heights) // 2] >= 0
    assert driver.scene.board.ply == 1
    driver.until(lambda: driver.scene.board.ply == 2)


def test_the_agent_takes_its_least_time(driver):
    driver.open(opponent=driver.script(0), begins="agent")
    driver.choose("Start")
    start = driver.time
    driver.until(lambda: driver.scene.board.ply == 1)
    assert driver.time - start >= 0.5


def test_undo_redo_and_new_game(driver):
    driver.open(opponent=driver.script(6, 6, 6), begins="you")
    driver.choose("Start")
    driver.press(pygame.K_u)  # nothing to take back
    assert driver.scene.board.ply == 0
    driver.play(0, 1)
    driver.until(lambda: driver.scene.board.ply == 4)
    driver.press(pygame.K_u)
    assert driver.scene.session.moves == [0, 6]
    driver.press(pygame.K_u)
    assert driver.scene.session.moves == []
    driver.press(pygame.K_r)
    assert driver.scene.session.moves == [0, 6]
    driver.click(driver.layout().keys["N"].center)
    assert driver.scene.session.moves == []
    assert driver.scene.person_to_move


def test_undo_while_the_agent_thinks(driver):
    window = driver.open(opponent=driver.agent("forever", FOREVER), begins="you")
    driver.choose("Start")
    driver.drop(3)
    driver.until(lambda: driver.scene.thinking_since is not None)
    before = window.workers[2].pid
    driver.click(driver.layout().keys["U"].center)
    assert driver.scene.session.moves == []
    assert not alive(before)
    driver.drop(2)
    driver.until(lambda: driver.scene.thinking_since is not None)


def test_undo_before_the_first_own_move_lets_the_agent_think_on(driver):
    driver.open(opponent=driver.script(0), begins="agent")
    driver.choose("Start")
    driver.until(lambda: driver.scene.thinking_since is not None)
    driver.press(pygame.K_u)
    driver.until(lambda: driver.scene.board.ply == 1)


@pytest.mark.parametrize("how", HOWS)
def test_a_hint_points_at_the_winning_column(driver, how):
    driver.open(opponent=driver.script(6, 6, 5), begins="you")
    driver.choose("Start")
    driver.play(2, 2, 2)
    driver.until(lambda: driver.scene.person_to_move and not driver.scene.is_falling(driver.time))
    if how == "keys":
        driver.press(pygame.K_h)
    else:
        driver.click(driver.layout().keys["H"].center)
    assert driver.scene.hint_wanted
    driver.until(lambda: driver.scene.hint is not None)
    assert driver.scene.hint == driver.scene.cursor == 2


def test_the_analysis_shows_values_of_this_position(driver):
    driver.open(opponent=driver.script(6, 6, 5), begins="you")
    driver.choose("Start")
    driver.press(pygame.K_a)
    driver.play(2, 2, 2)
    driver.until(lambda: driver.scene.board.ply == 6 and driver.scene.values)
    values = driver.scene.values
    assert values
    assert values.scores[2] == 18  # Pons' score of a win with the player's fourth disc
    assert values.best == {2}
    driver.until(lambda: driver.scene.values and driver.scene.values.all_exact)
    driver.press(pygame.K_a)
    assert not driver.scene.analysis


def test_the_menu_keeps_the_game(driver):
    window = driver.open(opponent=driver.script(6), begins="you")
    driver.choose("Start")
    driver.drop(0)
    driver.press(pygame.K_ESCAPE)
    assert window.in_menu
    driver.choose("Continue")
    driver.until(lambda: driver.scene.board.ply == 2)


def test_two_agents_are_watched_and_paused(driver):
    left = driver.agent("left", "return [c for c in range(config.columns) if not obs.board[c]][0]")
    driver.open(opponent=left, begins="you")
    driver.choose("Watch two agents")
    driver.choose("random_legal")
    assert driver.scene.session.players == ("random_legal", "left")
    driver.until(lambda: driver.scene.board.ply == 2)
    driver.press(pygame.K_SPACE)
    ply = driver.scene.board.ply
    driver.frames(60)
    assert driver.scene.board.ply == ply
    driver.press(pygame.K_RETURN)  # a person has no move here
    assert driver.scene.board.ply == ply
    driver.press(pygame.K_u)
    assert driver.scene.board.ply == ply - 1
    driver.click(driver.layout().keys["Space"].center)
    driver.finish()
    assert driver.scene.headline


def test_agents_given_by_the_command_line_play_at_once(driver):
    agent = driver.agent("low", "return [c for c in range(config.columns) if not obs.board[c]][0]")
    window = driver.open(watch=(agent, agent))
    assert not window.in_menu
    driver.finish()
    assert driver.scene.headline == "low wins"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise KeyError('x')", "KeyError"),
        ("return 99", "99"),
        ("import os; os._exit(1)", "process ended"),
    ],
)
def test_an_agent_that_fails_gives_up_the_game(driver, body, words):
    window = driver.open(opponent=driver.agent("bad", body), begins="agent")
    driver.choose("Start")
    driver.finish()
    assert driver.scene.headline == "bad gave up"
    assert words in window.message
    assert "does not count" in driver.scene.notice


def test_an_agent_that_ended_its_process_gets_another_one(driver):
    ends_itself = "import os\nos._exit(1)"
    driver.open(opponent=driver.agent("moody", ends_itself), begins="you", rows=4, columns=4)
    driver.choose("Start")
    for _ in range(2):
        driver.drop(0)
        driver.finish()
        assert driver.scene.headline == "moody gave up"
        driver.press(pygame.K_u)
        assert driver.scene.session.moves == []
    assert driver.scene.person_to_move


def test_an_opponent_that_is_not_there_is_told(driver):
    window = driver.open(opponent="nobody", begins="agent")
    driver.choose("Start")
    driver.finish()
    assert "there is no agent 'nobody'" in window.message


def test_debug_prints_board_and_values_of_every_move(driver, capfd):
    driver.open(opponent="one_step", begins="you", debug=True, depth=1)
    driver.choose("Start")
    driver.play(3, 3)
    printed = ""

    def complete() -> bool:
        nonlocal printed
        printed += capfd.readouterr().out
        return "move 3, you: column 4" in printed

    driver.until(complete)
    assert "move 2, one_step" in printed
    assert "values at depth 1" in printed


@pytest.mark.parametrize("size", [(320, 240), (500, 900), (1500, 500), (1920, 1080)])
def test_everything_stays_inside_a_resized_window(driver, size):
    driver.open(opponent=driver.script(6), begins="you", rows=12, columns=16)
    pygame.display.set_mode(size, pygame.RESIZABLE)
    driver.frames(1)
    inside = pygame.Rect((0, 0), size)
    assert all(inside.contains(row) for row in driver.rows().values())
    driver.choose("Start", "mouse")
    driver.frames(1)
    layout = driver.layout()
    parts = [layout.board, layout.lane, layout.values, *layout.plates.values(), *layout.keys.values()]
    assert all(inside.contains(part) for part in parts)
    assert not layout.lane.colliderect(layout.plates[1])
    driver.drop(15, "mouse")
    assert driver.scene.session.moves == [15]


def test_closing_in_mid_thought_leaves_nothing_running(driver):
    window = driver.open(opponent=driver.agent("forever", FOREVER), begins="agent")
    driver.choose("Start")
    driver.press(pygame.K_a)
    driver.until(lambda: driver.scene.thinking_since is not None and driver.scene.values)
    pids = [worker.pid for worker in window.workers.values()]
    assert len(pids) == 2
    assert all(alive(pid) for pid in pids)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    assert not window.frame()
    assert not any(alive(pid) for pid in pids)


def test_run_goes_on_until_the_window_is_closed(driver):
    driver.open()  # so that an event can be posted before
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    run(Settings())
    assert not pygame.display.get_init()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there is always a screen")
@pytest.mark.parametrize("driver_name", [None, "x11"])
def test_where_there_is_no_screen_the_terminal_is_proposed(tmp_path, driver_name):
    gone = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")
    environment = {name: value for name, value in os.environ.items() if name not in gone}
    environment |= {"XDG_CONFIG_HOME": str(tmp_path)} | (
        {"SDL_VIDEODRIVER": driver_name} if driver_name else {}
    )
    done = subprocess.run(
        [sys.executable, "-m", "play"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith("play with --terminal")


KILLED = """
import sys
from play.settings import Settings
from play.window import Window
if __name__ == "__main__":
    window = Window(Settings(), (sys.argv[1], sys.argv[1]))
    while window.scene.thinking_since is None:
        window.frame()
    print(*[worker.pid for worker in window.workers.values()], flush=True)
    while True:
        window.frame()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_killing_the_window_in_mid_thought_leaves_nothing_running(driver):
    script = driver.folder / "killed.py"
    script.write_text(KILLED)
    command = [sys.executable, str(script), driver.agent("forever", FOREVER)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout
        pids = [int(pid) for pid in process.stdout.readline().split()]
        assert len(pids) == 2
        process.send_signal(signal.SIGKILL)
    end = time.monotonic() + 20
    while any(alive(pid) for pid in pids):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_the_menu_shows_a_first_line_of_every_agent():
    menu = Menu(Settings())
    menu.open(Page.OPPONENT)
    assert all(item.note for item in menu.items)
