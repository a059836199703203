"""The window: turns keys, clicks and time into the menu's and the scene's methods, and draws them.

What there is to see is in `play.menu` and `play.scene`, how it looks in `play.drawing`, and who thinks in
`play.thinking`. `Window.frame` does everything that one frame needs, and never waits for an agent.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import asdict, replace
from time import perf_counter

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
import pygame

from engine.board import Board
from evaluation.errors import InputError
from play import settings as stored
from play.drawing import MenuLayout, SceneLayout, disc, draw_menu, draw_scene
from play.menu import Command, Menu, title
from play.records import Records, RecordsError
from play.scene import Scene
from play.session import Session
from play.settings import Settings, SettingsError, level_name, levels
from play.thinking import Explain, Failure, Move, Position, Worker, analyst, player

SIZE = (900, 820)
FRAMES = 60  # a second
LEAST_THINKING = 0.5  # seconds between two discs, so that one can follow
HINT_SECONDS = 1.0
ENTER = (pygame.K_RETURN, pygame.K_KP_ENTER, pygame.K_SPACE)
LEFT_BUTTON, RIGHT_BUTTON = 1, 3
PERSON = "you"
INVISIBLE = ("offscreen", "dummy")  # what SDL takes where there is no screen


class Window:
    """The window and the processes that think for it.

    Attributes:
        menu: the menu, which keeps the settings.
        scene: the game on the screen or, while the menu is open, behind it; None before the first.
        in_menu: whether the menu is open.
        message: a line of warning, empty if there is none.
        workers: the processes, by what they do: the marks of agents, "hint" and "analysis".
    """

    def __init__(
        self,
        settings: Settings,
        watch: tuple[str, str] | None = None,
        records: Records | None = None,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self.menu = Menu(settings)
        self.scene: Scene | None = None
        self.in_menu = True
        self.message = ""
        self.workers: dict[int | str, Worker] = {}
        self._records = records or Records()
        self._clock = clock
        self._saved = settings
        self._specs = ("", "")
        self._reply: int | Failure | None = None
        self._analysed: Position | None = None
        self._concluded = False
        self._closed = False
        pygame.display.init()
        pygame.font.init()
        pygame.display.set_caption("ConnectX")
        pygame.display.set_icon(disc(1, 64))
        pygame.display.set_mode(SIZE, pygame.RESIZABLE)
        if watch:
            self._begin(watch, frozenset())

    def frame(self) -> bool:
        """One frame: what was pressed, what time brings, and the picture. False once it is closed."""
        for event in pygame.event.get():
            self._handle(event)
            if self._closed:
                return False
        now = self._clock()
        self._advance(now)
        surface = pygame.display.get_surface()
        if self.in_menu or not self.scene:
            self.menu.first = min(MenuLayout.of(self._size, self.menu).rows)
            draw_menu(surface, self.menu, self.message)
        else:
            draw_scene(surface, self.scene, now, self.message)
        pygame.display.flip()
        return True

    def close(self) -> None:
        """Closes the window and ends every process, also in mid-thought."""
        self._closed = True
        self._dismiss()
        pygame.display.quit()

    # What is pressed

    def _handle(self, event: pygame.event.Event) -> None:
        if event.type == pygame.QUIT:
            self.close()
        elif self.in_menu:
            self._handle_in_menu(event)
        else:
            self._handle_in_game(event)

    def _handle_in_menu(self, event: pygame.event.Event) -> None:
        menu = self.menu
        if event.type == pygame.KEYDOWN:
            self.message = ""
            match event.key:
                case pygame.K_UP:
                    menu.select(menu.selected - 1)
                case pygame.K_DOWN | pygame.K_TAB:
                    menu.select(menu.selected + 1)
                case pygame.K_LEFT:
                    menu.adjust(-1)
                case pygame.K_RIGHT:
                    menu.adjust(1)
                case pygame.K_BACKSPACE | pygame.K_ESCAPE:
                    menu.back()
                case key if key in ENTER:
                    self._obey(menu.enter())
        elif event.type == pygame.MOUSEWHEEL:
            menu.select(min(max(menu.selected - event.y, 0), len(menu.items) - 1))
        elif event.type == pygame.MOUSEMOTION:
            self._point_in_menu(event.pos)
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button == LEFT_BUTTON:
            self._click_in_menu(event.pos)
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button == RIGHT_BUTTON:
            menu.back()
        self._save()

    def _point_in_menu(self, point: tuple[int, int]) -> bool:
        """Selects the line at a point, if there is one."""
        rows = MenuLayout.of(self._size, self.menu).rows
        found = next((index for index, row in rows.items() if row.collidepoint(point)), None)
        if found is not None:
            self.menu.select(found)
        return found is not None

    def _click_in_menu(self, point: tuple[int, int]) -> None:
        self.message = ""
        layout = MenuLayout.of(self._size, self.menu)
        if not self._point_in_menu(point):
            return
        arrows = layout.arrows.get(self.menu.selected)
        if arrows and arrows[0].collidepoint(point):
            self.menu.adjust(-1)
        else:
            self._obey(self.menu.enter())

    def _obey(self, command: Command | None) -> None:
        """What a line of the menu asks for."""
        match command:
            case Command.QUIT:
                self.close()
            case Command.CONTINUE:
                self.in_menu = False
            case Command.START:
                self._new_game(PERSON)
            case Command.WATCH:
                self._new_game(self.menu.watched)

    def _handle_in_game(self, event: pygame.event.Event) -> None:
        assert self.scene
        if event.type == pygame.KEYDOWN:
            self._press(event)
        elif event.type == pygame.MOUSEMOTION:
            column = self._layout.column_at(event.pos)
            if column is not None:
                self.scene.point(column)
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button == LEFT_BUTTON:
            self._click_in_game(event.pos)

    def _press(self, event: pygame.event.Event) -> None:
        assert self.scene
        match event.key:
            case pygame.K_LEFT:
                self.scene.move_cursor(-1)
            case pygame.K_RIGHT:
                self.scene.move_cursor(1)
            case pygame.K_DOWN:
                self._drop(self.scene.cursor)
            case pygame.K_u | pygame.K_z:
                self._act("U")
            case pygame.K_r | pygame.K_y:
                self._redo()
            case pygame.K_h:
                self._act("H")
            case pygame.K_a:
                self._act("A")
            case pygame.K_n:
                self._act("N")
            case pygame.K_ESCAPE | pygame.K_BACKSPACE:
                self._act("Esc")
            case pygame.K_SPACE if not self.scene.people:
                self._act("Space")
            case key if key in ENTER:
                self._act("Enter")
            case key if pygame.K_1 <= key <= pygame.K_9:
                self.scene.point(key - pygame.K_1)

    def _click_in_game(self, point: tuple[int, int]) -> None:
        assert self.scene
        column = self._layout.column_at(point)
        if column is not None:
            self.scene.point(column)
            self._drop(column)
        for key, rect in self._layout.keys.items():
            if rect.collidepoint(point):
                self._act(key)

    def _act(self, key: str) -> None:
        """What a key of the line at the bottom does."""
        scene = self.scene
        assert scene
        match key:
            case "Enter" if scene.is_over:
                self._again()
            case "Enter":
                self._drop(scene.cursor)
            case "Space":
                self._pause()
            case "U":
                self._forget()
                scene.undo()
            case "H" if scene.person_to_move:
                self._ask_for_hint()
            case "A":
                scene.analysis = not scene.analysis
                self._analysed = None
            case "N":
                self._again()
            case "Esc":
                self.menu.suspended = not scene.is_over
                self.menu.home()
                self.in_menu = True

    def _drop(self, column: int) -> None:
        scene = self.scene
        assert scene
        if scene.can_drop(column, self._clock()):
            self._play(column, self._clock())

    def _pause(self) -> None:
        """Watched agents wait, or go on."""
        assert self.scene
        self._forget()
        self.scene.paused = not self.scene.paused

    def _redo(self) -> None:
        assert self.scene
        self._forget()
        self.scene.redo()

    def _forget(self) -> None:
        """Breaks off what an agent thinks about, as the position will be another one."""
        assert self.scene
        if self.scene.thinking_since is not None and self._reply is None:
            self.workers[self.scene.board.turn].restart()
        self._reply = self.scene.thinking_since = None

    def _ask_for_hint(self) -> None:
        assert self.scene
        if not self.scene.hint_wanted:
            self.scene.hint_wanted = True
            self._worker("hint", levels()["Perfect"]).put(Move(self._position, HINT_SECONDS))

    # Games

    def _new_game(self, challenger: str) -> None:
        """A game of the person, or of another agent, against the opponent of the settings."""
        settings = self.menu.settings
        first = {"you": True, "agent": False}.get(settings.begins, random.random() < 0.5)
        specs = (challenger, settings.spec) if first else (settings.spec, challenger)
        people = frozenset({specs.index(PERSON) + 1}) if challenger == PERSON else frozenset[int]()
        self._begin(specs, people)

    def _again(self) -> None:
        """Another game of the same kind as the last."""
        assert self.scene
        analysis = self.scene.analysis
        if self.scene.people:
            self._new_game(PERSON)
        else:
            self._begin(self._specs, frozenset())
        self.scene.analysis = analysis

    def _begin(self, specs: tuple[str, str], people: frozenset[int]) -> None:
        settings = self.menu.settings
        self._dismiss()
        self._specs = specs
        first, second = (spec if spec == PERSON else title(spec) for spec in specs)
        board = Board(settings.rows, settings.columns, settings.inarow)
        self.scene = Scene(Session(board, (first, second)), people)
        self._reply, self._analysed, self._concluded, self.message = None, None, False, ""
        self.in_menu = False
        for mark in {1, 2} - people:
            self._worker(mark, specs[mark - 1])

    def _play(self, column: int, now: float) -> None:
        """Drops the disc of the player to move."""
        assert self.scene
        mark = self.scene.board.turn
        self.scene.drop(column, now)
        if self.menu.settings.debug:
            own = mark in self.workers
            explain = Explain(
                self._position, self.scene.session.players[mark - 1], self.menu.settings.depth, own
            )
            self.workers[mark if own else 3 - mark].put(explain)

    # What time brings

    def _advance(self, now: float) -> None:
        scene = self.scene
        if scene is None:
            return
        self._listen()
        if self.in_menu:
            return
        if scene.agent_to_move and not scene.is_falling(now):
            self._advance_agent(now)
        if scene.analysis and not scene.is_over and self._analysed != self._position:
            self._analysed = self._position
            self._worker("analysis").put(self._position)
        if scene.is_over and not self._concluded and not scene.is_falling(now):
            self._conclude()

    def _advance_agent(self, now: float) -> None:
        scene = self.scene
        assert scene
        turn = scene.board.turn
        if scene.thinking_since is None:
            scene.thinking_since = now
            self.workers[turn].put(Move(self._position, self.menu.settings.seconds))
        elif self._reply is not None and now - scene.thinking_since >= LEAST_THINKING:
            reply, self._reply = self._reply, None
            if isinstance(reply, Failure):
                self.message = f"{scene.session.player}: {reply.message}"
                scene.thinking_since = None
                scene.session.forfeit(turn)
            else:
                self._play(reply, now)

    def _listen(self) -> None:
        """Takes the answers of the processes; those about another position are too late."""
        scene = self.scene
        assert scene
        position = self._position
        for role, worker in self.workers.items():
            for question, answer in worker.answers():
                asked = question.position if isinstance(question, Move) else question
                if asked not in (position, None):
                    continue
                if role == "analysis":
                    scene.values = answer if question else None  # None of a process that ended
                elif role == "hint":
                    scene.hint_wanted = False
                    if isinstance(answer, int):
                        scene.hint = answer
                        scene.point(answer)
                    else:
                        self.message = f"no hint: {answer.message}"
                elif role == scene.board.turn and scene.thinking_since is not None:
                    self._reply = answer

    def _conclude(self) -> None:
        """Keeps the record of a game of a person against an agent, once."""
        scene = self.scene
        assert scene
        self._concluded = True
        for mark in scene.people:
            spec = self._specs[2 - mark]
            try:
                notice = self._records.conclude(scene.session, mark, spec)
                scene.notice = notice.replace(level_name(spec), title(spec)).replace(" (", "\n(", 1)
            except RecordsError as error:
                self.message = str(error)

    # What belongs to the window

    @property
    def _size(self) -> tuple[int, int]:
        return pygame.display.get_window_size()

    @property
    def _layout(self) -> SceneLayout:
        assert self.scene
        return SceneLayout.of(self._size, self.scene)

    @property
    def _position(self) -> Position:
        assert self.scene
        return Position.of(self.scene.board, self.scene.session.moves)

    def _worker(self, role: int | str, spec: str = "") -> Worker:
        """The process of a role, started when it is first needed."""
        if role not in self.workers:
            self.workers[role] = Worker(analyst if role == "analysis" else player, spec)
        return self.workers[role]

    def _dismiss(self) -> None:
        """Ends every process."""
        for worker in self.workers.values():
            worker.close()
        self.workers.clear()

    def _save(self) -> None:
        """Writes what the menu has changed to the settings file, and only that."""
        before, after = asdict(self._saved), asdict(self.menu.settings)
        changes = {name: value for name, value in after.items() if value != before[name]}
        if changes:
            self._saved = self.menu.settings
            try:
                stored.save(replace(stored.read(), **changes))
            except SettingsError as error:
                self.message = f"not saved: {error}"


def run(settings: Settings, watch: tuple[str, str] | None = None) -> None:
    """Opens the window on the menu, or on a game of the agents (specs) `watch`, until it is closed.

    Raises `InputError` where no window can be opened.
    """
    try:
        window = Window(settings, watch)
    except pygame.error as error:
        raise InputError(f"no window can be opened ({error}): play with --terminal") from None
    pace = pygame.time.Clock()
    try:
        if pygame.display.get_driver() in INVISIBLE and "SDL_VIDEODRIVER" not in os.environ:
            raise InputError("there is no screen to open a window on: play with --terminal")
        while window.frame():
            pace.tick(FRAMES)
    finally:
        window.close()
