"""A game in the terminal: in colours where it has them, in plain text otherwise."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import sleep
from typing import Generic

from rich.text import Text

from engine.board import SYMBOLS, Board
from engine.search import G, SearchResult, alpha_beta
from engine.tictactoe import TicTacToe, evaluate_tictactoe
from evaluation.console import messages, output
from evaluation.loading import load_agent
from play.debug import explain, overhear
from play.records import Records, RecordsError
from play.session import AgentError, Outcome, Reason, Session, ask, last_cell
from play.settings import BEGINS, Settings, level_name, levels

COMMANDS = "h hint, u undo, r redo, resign, q quit"
STYLES = ("dim", "bold yellow", "bold red")
PAUSE = 0.5  # seconds between the moves of two agents, on a terminal


@dataclass
class Seat(Generic[G]):
    """Who plays a mark: a person, or an agent that chooses its moves.

    Attributes:
        name: what the player is called.
        choose: the move in a position, None for a person. Raises `AgentError`.
        heard: what the agent's searches found, as it plays.
    """

    name: str
    choose: Callable[[G], int] | None = None
    heard: list[SearchResult] = field(default_factory=list)


class Terminal(Generic[G]):
    """One game between two seats.

    Args:
        hint: the move advised in a position.
        draw: the picture of a position.
        first: the number a person gives the move 0.
        debug: prints about a move: the position before, the move, who played it.
    """

    def __init__(
        self,
        board: G,
        seats: Sequence[Seat[G]],
        *,
        hint: Callable[[G], int],
        draw: Callable[[G], Text],
        first: int,
        debug: Callable[[G, int, Seat[G]], None] | None = None,
    ) -> None:
        self.session = Session(board, (seats[0].name, seats[1].name))
        self.seats = seats
        self.hint = hint
        self.draw = draw
        self.first = first
        self.debug = debug

    def play(self) -> Outcome | None:
        """Plays until the end of the game; None if the person quits before it."""
        watched = all(seat.choose for seat in self.seats)
        self._show()
        while not self.session.result:
            turn = self.session.board.turn
            seat = self.seats[turn - 1]
            if seat.choose:
                self._let_agent_move(seat, seat.choose)
                if watched and output.is_terminal:
                    sleep(PAUSE)
            elif not self._obey(_ask_person(self._prompt())):
                say("The game is left unfinished.")
                return None
        say(self._ending(self.session.result))
        return self.session.result

    def _let_agent_move(self, seat: Seat[G], choose: Callable[[G], int]) -> None:
        board = self.session.board
        if output.is_terminal:
            say(f"{seat.name} is thinking ...")
        seat.heard.clear()
        try:
            move = choose(board)
        except AgentError as error:
            say(f"{seat.name} {error}")
            self.session.forfeit(board.turn)
            return
        self._move(move, seat)

    def _move(self, move: int, seat: Seat[G]) -> None:
        before = self.session.board
        self.session.play(move)
        say(f"{seat.name} ({SYMBOLS[before.turn]}): {move + self.first}")
        self._show()
        if self.debug:
            self.debug(before, move, seat)

    def _obey(self, line: str | None) -> bool:
        """Does what a person's line says; False to end the game."""
        word = (line or "").strip().lower()
        if line is None or word in ("q", "quit"):
            return False
        turn = self.session.board.turn
        if word in ("h", "hint"):
            self._give_hint()
        elif word in ("u", "undo"):
            self._show_if(self.session.take_back(), "There is nothing to take back.")
        elif word in ("r", "redo"):
            self._show_if(self.session.redo() and self.session.redo(), "There is nothing to play again.")
        elif word == "resign":
            self.session.resign(turn)
        elif (move := self._legal_move(word)) is not None:
            self._move(move, self.seats[turn - 1])
        return True

    def _legal_move(self, word: str) -> int | None:
        """The move a person's word stands for; None, with the reason told, if it is not legal."""
        if not word:
            say(f"Type a number, or a command: {COMMANDS}.")
            return None
        if not (word.isascii() and word.isdigit()):
            say(f"{word!r} is neither a number nor a command: {COMMANDS}.")
            return None
        # More digits than any board has need no look, and Python reads no number of thousands.
        move = int(word) - self.first if len(word) < 10 else -1
        if move not in self.session.legal_moves:
            say(f"{word[:12]} cannot be played here: {self._numbers()} can.")
            return None
        return move

    def _give_hint(self) -> None:
        try:
            say(f"Hint: {self.hint(self.session.board) + self.first}")
        except AgentError as error:
            say(f"No hint: the adviser {error}")

    def _show_if(self, done: bool, otherwise: str) -> None:
        if done:
            self._show()
        else:
            say(otherwise)

    def _show(self) -> None:
        picture = self.draw(self.session.board)
        say(picture if output.color_system and not output.no_color else picture.plain)

    def _prompt(self) -> str:
        name, symbol = self.session.player, SYMBOLS[self.session.board.turn]
        return f"{name} ({symbol}), {self._numbers()} or {COMMANDS}: "

    def _numbers(self) -> str:
        return " ".join(str(move + self.first) for move in self.session.legal_moves)

    def _ending(self, outcome: Outcome) -> str:
        if not outcome.winner:
            return "The board is full: a draw."
        loser = self.seats[2 - outcome.winner].name
        winner = f"{self.seats[outcome.winner - 1].name} ({SYMBOLS[outcome.winner]})"
        verb = "win" if winner.startswith("you ") else "wins"
        how = {Reason.RESIGNED: f": {loser} resigned", Reason.FORFEIT: f": {loser} forfeits"}
        return f"{winner} {verb}{how.get(outcome.reason, '')}."


def play_connectx(settings: Settings, watch: tuple[str, str] | None = None) -> None:
    """A person against the opponent of the settings, or two agents (specs) against each other to watch.

    Raises `SpecError` for an agent that does not exist.
    """
    board = Board(settings.rows, settings.columns, settings.inarow)
    person = 0 if watch else _person_mark(settings.begins)
    seats = [_agent_seat(spec, settings.seconds) for spec in watch or (settings.spec,)]
    if person:
        seats.insert(person - 1, Seat("you"))

    def hint(board: Board) -> int:
        return ask(load_agent(levels()["Perfect"]), board, settings.seconds)

    def debug(before: Board, move: int, seat: Seat[Board]) -> None:
        say(explain(before, move, seat.name, settings.depth, seat.heard[-1] if seat.heard else None))

    game = Terminal(
        board, seats, hint=hint, draw=draw_board, first=1, debug=debug if settings.debug else None
    )
    if game.play() and person:
        try:
            say(Records().conclude(game.session, person, settings.spec))
        except RecordsError as error:
            messages.print(f"warning: {error}", soft_wrap=True, markup=False)


def play_tictactoe(begins: str) -> None:
    """A person against the search, which never loses."""

    def best(game: TicTacToe) -> int:
        return random.choice(alpha_beta(game, 9, evaluate_tictactoe).best_moves)

    seats: list[Seat[TicTacToe]] = [Seat("the search", best)]
    seats.insert(_person_mark(begins) - 1, Seat("you"))
    Terminal(TicTacToe(), seats, hint=best, draw=lambda game: Text(str(game)), first=0).play()


def draw_board(board: Board) -> Text:
    """The board with its columns' numbers below; `[ ]` around the last disc, `( )` around a winning line."""
    shape = board.geometry
    width = len(str(shape.columns))
    line = set(board.winning_line())
    last = last_cell(board)
    text = Text()
    for height in reversed(range(shape.rows)):
        for column in range(shape.columns):
            cell, mark = (height, column), board.cell(height, column)
            left, right = "()" if cell in line else "[]" if cell == last else "  "
            text.append((left + SYMBOLS[mark]).rjust(width + 1) + right, STYLES[mark])
        text.rstrip()
        text.append("\n")
    text.append("".join(f" {column + 1:>{width}} " for column in range(shape.columns)).rstrip(), "dim")
    return text


def say(text: str | Text) -> None:
    """Prints lines as they are, whatever the width."""
    output.print(text, soft_wrap=True, markup=False)


def _ask_person(prompt: str) -> str | None:
    """The line a person types, None at the end of the input."""
    try:
        return input(prompt)
    except EOFError:
        say("")
        return None
    except UnicodeDecodeError:
        return "?"


def _person_mark(begins: str) -> int:
    return random.choice((1, 2)) if begins == "random" else BEGINS.index(begins)


def _agent_seat(spec: str, seconds: float) -> Seat[Board]:
    agent = load_agent(spec)
    return Seat(level_name(spec), lambda board: ask(agent, board, seconds), overhear(agent))
