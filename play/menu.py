"""The menu's state: which page is open, which item is selected, and what the settings become.

No drawing and no events here: `play.window` turns keys and clicks into the methods of `Menu`, and
`play.drawing` shows its items.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path

from evaluation.loading import is_file, known_agents, module_path, parse_spec
from play.settings import BEGINS, LEVEL_DEPTHS, Settings, level_name, levels, settings_path

LARGEST = 20  # rows and columns that the menu offers; a settings file may ask for more
DEEPEST = 12
SECONDS = (0.5, 1, 2, 5, 10, 30)
BEGINS_LABELS = dict(zip(BEGINS, ("Random", "You", "Agent"), strict=True))
BEGINS_NOTES = {
    "random": "A coin is tossed before every game.",
    "you": "You have the first move; your discs are marked X.",
    "agent": "The agent has the first move; your discs are marked O.",
}
CREDITS = (
    ("Bitboards", "John Tromp, Fhourstones"),
    ("Strategy", "Victor Allis, 1988"),
    ("Scores", "Pascal Pons, Connect 4 solver"),
    ("Agents and rules", "Kaggle, ConnectX"),
    ("Window", "pygame, SDL"),
    ("Licence", "MIT"),
)


class Page(StrEnum):
    """The pages of the menu; the values are their headings."""

    MAIN = "ConnectX"
    OPPONENT = "Opponent"
    WATCH = "Watch two agents"
    BEGINS = "Who begins"
    BOARD = "Board"
    SETTINGS = "Settings"
    CREDITS = "Credits"


class Command(StrEnum):
    """What the menu asks of the window."""

    CONTINUE = "continue"  # the game behind the menu
    START = "start"  # a game against `settings.spec`
    WATCH = "watch"  # `watched` against `settings.spec`
    QUIT = "quit"


@dataclass(frozen=True)
class Item:
    """A line of a page.

    Attributes:
        label, value: what stands at its left and its right.
        note: a line about it, shown while it is selected.
        enter: what choosing it does.
        adjust: what one step to the left (-1) or right (1) does, None if it has no steps.
        current: whether it is the one of a list that is in force.
    """

    label: str
    value: str = ""
    note: str = ""
    enter: Callable[[], Command | None] | None = None
    adjust: Callable[[int], None] | None = None
    current: bool = False


class Menu:
    """The menu's pages over one `Settings`.

    Attributes:
        settings: as changed so far.
        page: the open page.
        selected: index of the selected item of the page.
        first: index of the first line in sight, where the window is too low for all.
        watched: spec of the agent that plays in the person's place, for `Command.WATCH`.
        suspended: whether there is a game to go on with.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.page = Page.MAIN
        self.selected = self.first = 0
        self.watched = ""
        self.suspended = False
        self._main_selected = 0
        self._given = settings.spec  # stays on the list when another opponent is chosen

    @property
    def items(self) -> list[Item]:
        """The lines of the open page."""
        return PAGES[self.page](self)

    @property
    def item(self) -> Item:
        """The selected line."""
        return self.items[self.selected]

    def select(self, index: int) -> None:
        """Selects a line; an index beyond the ends goes round."""
        self.selected = index % len(self.items)

    def adjust(self, step: int) -> None:
        """One step of the selected value to the left (-1) or right (1)."""
        if self.item.adjust:
            self.item.adjust(step)

    def enter(self) -> Command | None:
        """Chooses the selected line; what the window has to do then, if anything."""
        if self.item.enter:
            return self.item.enter()
        self.adjust(1)
        return None

    def back(self) -> None:
        """To the main page; from there to its last line, Quit."""
        if self.page is Page.MAIN:
            self.selected = len(self.items) - 1
        else:
            self.page, self.selected, self.first = Page.MAIN, self._main_selected, 0

    def home(self) -> None:
        """To the first line of the main page."""
        self.page, self.selected, self.first = Page.MAIN, 0, 0

    def open(self, page: Page) -> None:
        """Opens a page on the line that is in force."""
        self._main_selected = self.selected
        self.page, self.first = page, 0
        self.selected = next((number for number, item in enumerate(self.items) if item.current), 0)

    def _main(self) -> list[Item]:
        settings = self.settings
        opponent = title(settings.spec)

        def page(page: Page, value: str = "", note: str = "") -> Item:
            return Item(page.value, value, note, enter=lambda: self.open(page))

        going_on = Item("Continue", note="Back to the game.", enter=lambda: Command.CONTINUE)
        return [
            *([going_on] if self.suspended else []),
            Item("Start", note=f"A game against {opponent}.", enter=lambda: Command.START),
            page(Page.OPPONENT, opponent, "Who plays against you: four levels, and every agent of the kit."),
            page(Page.BEGINS, BEGINS_LABELS[settings.begins], BEGINS_NOTES[settings.begins]),
            page(Page.BOARD, board_name(settings), "Any size, and any length of the winning line."),
            page(Page.WATCH, note=f"Another agent takes your place against {opponent}."),
            page(Page.SETTINGS, note="How long the agent thinks, how far the levels look, debugging."),
            page(Page.CREDITS, note="Where the ideas come from."),
            Item("Quit", enter=lambda: Command.QUIT),
        ]

    def _opponent(self) -> list[Item]:
        choices = _agents(self.settings.spec, self._given)
        current = level_name(self.settings.spec)
        return [
            Item(label, note=note, current=label == current, enter=partial(self._choose, spec))
            for label, spec, note in choices
        ]

    def _choose(self, spec: str) -> None:
        depths = {levels()[name]: depth for name, depth in LEVEL_DEPTHS.items()}
        if spec in depths:
            self.settings = replace(self.settings, opponent="", depth=depths[spec])
        else:
            self.settings = replace(self.settings, opponent=spec)
        self.back()

    def _watch(self) -> list[Item]:
        def watch(spec: str) -> Command:
            self.watched = spec
            return Command.WATCH

        return [
            Item(label, note=note, enter=partial(watch, spec))
            for label, spec, note in _agents(self.settings.spec, self._given)
        ]

    def _begins(self) -> list[Item]:
        def begin(who: str) -> None:
            self.settings = replace(self.settings, begins=who)
            self.back()

        return [
            Item(
                BEGINS_LABELS[who],
                note=BEGINS_NOTES[who],
                enter=partial(begin, who),
                current=self.settings.begins == who,
            )
            for who in BEGINS
        ]

    def _board(self) -> list[Item]:
        settings = self.settings
        warning = "" if settings.inarow <= max(settings.rows, settings.columns) else "Nobody can win on it."
        note = warning or "Left and right change the number."

        def number(label: str, field: str) -> Item:
            return Item(label, str(getattr(settings, field)), note, adjust=self._stepper(field, LARGEST))

        return [
            number("Rows", "rows"),
            number("Columns", "columns"),
            number("In a row", "inarow"),
            Item("Standard board", board_name(Settings()), "The board of the competition.", self._standard),
            self._done(),
        ]

    def _standard(self) -> None:
        self.settings = replace(self.settings, rows=6, columns=7, inarow=4)

    def _settings(self) -> list[Item]:
        settings = self.settings

        def seconds(step: int) -> None:
            near = min(range(len(SECONDS)), key=lambda index: abs(SECONDS[index] - settings.seconds))
            index = min(max(near + step, 0), len(SECONDS) - 1)
            self.settings = replace(self.settings, seconds=SECONDS[index])

        def debug(_step: int) -> None:
            self.settings = replace(self.settings, debug=not self.settings.debug)

        return [
            Item(
                "Time for a move",
                f"{settings.seconds:g} s",
                "What the agent is told it may take.",
                adjust=seconds,
            ),
            Item(
                "Depth",
                str(settings.depth),
                "Moves the levels look ahead: 1 is Easy, 4 Medium, 6 Expert."
                if not settings.opponent
                else f"For the levels; {title(settings.spec)} decides for itself.",
                adjust=self._stepper("depth", DEEPEST),
            ),
            Item(
                "Debug",
                "On" if settings.debug else "Off",
                "Prints board, values and search figures of every move to the terminal.",
                adjust=debug,
            ),
            self._done(f"Kept in {settings_path()}"),
        ]

    def _stepper(self, field: str, largest: int) -> Callable[[int], None]:
        def step(by: int) -> None:
            value = getattr(self.settings, field)
            changed = min(max(value + by, 1), max(largest, value))
            self.settings = replace(self.settings, **{field: changed})

        return step

    def _credits(self) -> list[Item]:
        return [Item(label, value) for label, value in CREDITS] + [self._done()]

    def _done(self, note: str = "") -> Item:
        return Item("Back", note=note, enter=self.back)


PAGES: dict[Page, Callable[[Menu], list[Item]]] = {
    Page.MAIN: Menu._main,
    Page.OPPONENT: Menu._opponent,
    Page.WATCH: Menu._watch,
    Page.BEGINS: Menu._begins,
    Page.BOARD: Menu._board,
    Page.SETTINGS: Menu._settings,
    Page.CREDITS: Menu._credits,
}


def board_name(settings: Settings) -> str:
    """The size in words, as in "6 x 7, 4 in a row"."""
    return f"{settings.rows} \u00d7 {settings.columns}, {settings.inarow} in a row"


def _agents(*given: str) -> list[tuple[str, str, str]]:
    """Label, spec and note of every agent to choose from; `given` are specs that may be none of them."""
    named = levels()
    choices = [(name, spec, _level_note(name, spec)) for name, spec in named.items()]
    choices += [(name, name, summary(name)) for name in known_agents()]
    choices += [
        ("kaggle:negamax", "kaggle:negamax", "Kaggle's own search, four moves deep."),
        ("kaggle:random", "kaggle:random", "Kaggle's own random player."),
    ]
    known = {spec for _, spec, _ in choices}
    choices += [(spec, spec, "The agent you named.") for spec in dict.fromkeys(given) if spec not in known]
    return choices


def _level_note(name: str, spec: str) -> str:
    if name in LEVEL_DEPTHS:
        depth = LEVEL_DEPTHS[name]
        return f"Looks {depth} {'move' if depth == 1 else 'moves'} ahead."
    return f"The strongest agent of the kit: {spec}."


def title(spec: str) -> str:
    """What an agent is called where room is scarce: its level, or a file's name without folder and ending."""
    target, _ = parse_spec(spec)
    return Path(target).stem if is_file(target) else level_name(spec)


def summary(name: str) -> str:
    """The first line of the docstring of an agent of agents/."""
    text = ast.get_docstring(ast.parse(module_path(name).read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]
