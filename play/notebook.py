"""A board to click on in a notebook."""

from __future__ import annotations

import sys
from html import escape
from importlib import import_module
from random import choice
from time import sleep
from typing import Any

from engine.board import COLOURS, SYMBOLS, Board, BoardError
from engine.clock import now
from evaluation.errors import InputError
from evaluation.kaggle import show_playable
from evaluation.loading import agent_name, load_agent
from evaluation.referee import Agent
from play.records import Records, RecordsError
from play.session import AgentError, Outcome, Reason, Session, ask, last_cell
from play.settings import BEGINS, level_name, levels, spec_of

PAUSE = 0.4  # seconds between the moves of two agents
DEAF = 0.3  # seconds after an agent's move, in which clicks still belong to the position before it


def notebook(
    agent: str | Agent = "Medium",
    against: str | Agent | None = None,
    *,
    rows: int = 6,
    columns: int = 7,
    inarow: int = 4,
    begins: str = "random",
    seconds: float = 2,
) -> NotebookBoard | None:
    """Shows a board on which a person plays against `agent` by clicking a column.

    `agent` is a level such as Expert, a spec or a function. With `against` two agents play each other, and
    `agent` begins. `begins` is random, you or agent; `seconds` is the time of a move that agents are told.

    What is shown comes back, with the game as its `session`. Without ipywidgets it is Kaggle's own board,
    said so on standard error, and None comes back. Raises `InputError` for an agent that does not exist.
    """
    if begins not in BEGINS:
        raise InputError(f"begins={begins!r}: give random, you or agent")
    person = choice((1, 2)) if begins == "random" else BEGINS.index(begins)
    players: list[str | Agent | None] = [
        spec_of(player) if isinstance(player, str) else player
        for player in (agent, against)
        if player is not None
    ]
    if against is None:
        players.insert(person - 1, None)
    try:
        widgets = import_module("ipywidgets")
    except ImportError:
        print(
            "ipywidgets is not installed: Kaggle's own board is shown, which as of its version 1.33.2 takes"
            " no clicks. `pip install ipywidgets` brings the kit's, `python -m play --terminal` needs none",
            file=sys.stderr,
        )
        size = {"rows": rows, "columns": columns, "inarow": inarow, "actTimeout": seconds}
        show_playable([None if player is None else load_agent(player) for player in players], size)
        return None
    board = NotebookBoard(Board(rows, columns, inarow), players, seconds, widgets)
    import_module("IPython.display").display(board.widget)
    board.start()
    return board


class NotebookBoard:
    """A game shown as a grid of buttons: those of a column all drop a disc into it.

    Attributes:
        session: the game.
        widget: what is shown.
        cells: the button of each cell (height, column).
        buttons: the other buttons, by what is written on them.
        status: the line below the board.
    """

    def __init__(self, board: Board, players: list[str | Agent | None], seconds: float, widgets: Any) -> None:
        self.players = players
        self.seconds = seconds
        self.empty = board
        self.deaf_until = 0.0
        self._set_up()
        self._build(widgets)

    def __repr__(self) -> str:
        return f"<NotebookBoard: {' against '.join(self.session.players)}, {self._state()}>"

    def start(self) -> None:
        """Shows the position, and lets an agent that begins against a person move."""
        self._refresh()
        if self._has_person:
            self._let_agent_move()

    def click(self, column: int) -> None:
        """What a click on a column (0-based) does: the person's move, and the agent's answer."""
        if now() < self.deaf_until or self.session.result or self.session.board.turn in self.agents:
            return
        try:
            self.session.play(column)
        except BoardError as error:
            self._say(str(error))
            return
        self._refresh()
        self._let_agent_move()

    def _build(self, widgets: Any) -> None:
        shape = self.empty.geometry
        size = widgets.Layout(width="44px", height="44px", margin="1px")
        self.cells = {
            (height, column): widgets.Button(layout=size, tooltip=f"column {column + 1}")
            for height in reversed(range(shape.rows))
            for column in range(shape.columns)
        }
        for (_, column), button in self.cells.items():
            button.style.font_weight = "bold"
            button.style.text_color = "#111111"
            button.on_click(lambda _, column=column: self.click(column))
        actions = {"New game": self._again, "Undo": self._undo, "Redo": self._redo}
        if self._has_person:
            actions |= {"Hint": self._hint, "Resign": self._resign}
        else:
            actions |= {"Next move": self._let_agent_move, "Play on": self._play_on}
        self.buttons = {name: widgets.Button(description=name) for name in actions}
        for name, action in actions.items():
            self.buttons[name].on_click(lambda _, action=action: action())
        self.status = widgets.HTML()
        grid = widgets.GridBox(
            list(self.cells.values()),
            layout=widgets.Layout(grid_template_columns=f"repeat({shape.columns}, 46px)"),
        )
        self.widget = widgets.VBox([grid, self.status, widgets.HBox(list(self.buttons.values()))])

    @property
    def _has_person(self) -> bool:
        return None in self.players

    @property
    def _person(self) -> int:
        return self.players.index(None) + 1

    def _set_up(self) -> None:
        """An empty board, and agents that know nothing of the game before."""
        names = ["you" if player is None else level_name(agent_name(player)) for player in self.players]
        self.session = Session(self.empty, (names[0], names[1]))
        self.agents = {
            mark: load_agent(player) for mark, player in enumerate(self.players, 1) if player is not None
        }

    def _again(self) -> None:
        self._set_up()
        self.start()

    def _undo(self) -> None:
        if self.session.take_back(self._person) if self._has_person else self.session.undo():
            self._refresh()

    def _redo(self) -> None:
        """Plays on to the person's next turn, or to the end."""
        while self.session.redo() and self.session.board.turn in self.agents and self._has_person:
            pass
        self._refresh()

    def _hint(self) -> None:
        if not self.session.result:
            column = self.session.hint(load_agent(levels()["Perfect"]), self.seconds)
            self._say(f"Hint: column {column + 1}")

    def _resign(self) -> None:
        if not self.session.result:
            self.session.resign(self._person)
            self._refresh()
            self._conclude()

    def _play_on(self) -> None:
        while not self.session.result:
            self._let_agent_move()
            sleep(PAUSE)

    def _let_agent_move(self) -> None:
        """The move of the agent whose turn it is, if it is one's."""
        board = self.session.board
        failure = ""
        if not self.session.result and board.turn in self.agents:
            self._say(f"{self.session.player} is thinking ...")
            try:
                self.session.play(ask(self.agents[board.turn], board, self.seconds))
            except AgentError as error:
                failure = f"{self.session.player} {error}. "
                self.session.forfeit(board.turn)
            self._refresh(failure)
            self.deaf_until = now() + DEAF
        if self.session.result and self._has_person:
            self._conclude(failure)

    def _conclude(self, failure: str = "") -> None:
        """Keeps the game in the person's records, if the agent has a spec, and says how it went."""
        opponent = self.players[2 - self._person]
        if isinstance(opponent, str):
            try:
                self._say(failure + Records().conclude(self.session, self._person, opponent))
            except RecordsError as error:
                self._say(f"{failure}{self._state()} {error}")

    def _refresh(self, failure: str = "") -> None:
        board = self.session.board
        line, last = set(board.winning_line()), last_cell(board)
        for cell, button in self.cells.items():
            mark = board.cell(*cell)
            symbol = SYMBOLS[mark] if mark else ""
            left, right = "()" if cell in line else "[]" if cell == last else ("", "")
            button.description = left + symbol + right
            button.style.button_color = COLOURS[mark]
        self._say(failure + self._state())

    def _state(self) -> str:
        """Whose turn it is, or how the game ended."""
        match self.session.result:
            case None:
                return f"{self.session.player} ({SYMBOLS[self.session.board.turn]}) to move"
            case Outcome(winner=0):
                return "The board is full: a draw."
            case Outcome(winner=winner, reason=reason):
                how = "" if reason is Reason.LINE else f": the other {reason.value}"
                return f"{self.session.players[winner - 1]} ({SYMBOLS[winner]}) won{how}."

    def _say(self, text: str) -> None:
        self.status.value = escape(text)
