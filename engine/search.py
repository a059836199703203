"""Game-tree search over any game of two players who see everything.

A game offers whose turn it is, the legal moves, the position after a move, and the winner; an evaluation
says how good a position is for a player. Nothing here knows the rules of a game (engine/tictactoe.py shows
how to add one), and nothing here invents a score: won and drawn games are valued by the evaluation too.

The contract of all searches:

* Values are seen from the player to move at the root: that player maximises, the opponent minimises. The
  sign is never flipped, because an evaluation need not be symmetric between the players.
* The value of a position is the evaluation's, `depth` moves deep or where the game has ended before.
* `minimax` is the definition. `alpha_beta`, and `iterative_deepening` at the depth it reached, give the same
  value and the same best moves, whatever the order of moves and with or without a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf, nextafter
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from engine.clock import now

if TYPE_CHECKING:
    from typing import Self


class Game(Protocol):
    """A position of a game for players 1 and 2; positions do not change, `play` returns the next one."""

    @property
    def turn(self) -> int:
        """The player to move, 1 or 2."""

    @property
    def winner(self) -> int:
        """The player who has won, 0 while nobody has."""

    def legal_moves(self) -> Sequence[int]:
        """The moves of the player to move; none once the game is over."""

    def play(self, move: int) -> Self:
        """The position after a legal move."""


G = TypeVar("G", bound=Game)

# evaluate(game, player): the higher, the better for the player. Defined for ended games too, and a finite
# number that a float holds exactly: a whole number of at most 2**53, or a float.
Evaluation = Callable[[G, int], float]

# A line of play as a linked list (move, rest): adding a move in front costs the same at any length.
Line = tuple[int, "Line"] | tuple[()]


@dataclass(frozen=True)
class SearchResult:
    """What a search found.

    Attributes:
        value: value of the position for the player to move.
        best_moves: all moves that reach the value, ascending; none where the game is over.
        principal_variation: best play of both sides; it starts with one of the best moves, and the
            position at its end evaluates to `value`.
        depth: how many moves deep the search looked.
        nodes: positions visited below the root, in all depths together.
    """

    value: float
    best_moves: tuple[int, ...]
    principal_variation: tuple[int, ...]
    depth: int
    nodes: int


def minimax(game: G, depth: int, evaluate: Evaluation[G]) -> SearchResult:
    """Search all positions up to `depth` moves deep (at least 1)."""
    player = game.turn
    nodes = 0

    def search(game: G, depth: int) -> tuple[float, Line]:
        nonlocal nodes
        nodes += 1
        moves = game.legal_moves() if depth else ()
        if not moves:
            return evaluate(game, player), ()
        choose = max if game.turn == player else min
        lines = [(move, search(game.play(move), depth - 1)) for move in moves]
        move, (value, reply) = choose(lines, key=lambda line: line[1][0])
        return value, (move, reply)

    _check_depth(depth)
    replies = {move: search(game.play(move), depth - 1) for move in game.legal_moves()}
    if not replies:
        return SearchResult(evaluate(game, player), (), (), depth, 0)
    best = max(value for value, _ in replies.values())
    best_moves = sorted(move for move, (value, _) in replies.items() if value == best)
    variation = (best_moves[0], *_moves_of(replies[best_moves[0]][1]))
    return SearchResult(best, tuple(best_moves), variation, depth, nodes)


def alpha_beta(game: G, depth: int, evaluate: Evaluation[G]) -> SearchResult:
    """Search `depth` moves deep (at least 1), leaving out what cannot change the value or the best moves.

    Knuth and Moore, "An analysis of alpha-beta pruning", 1975.
    """
    return _AlphaBeta(game, evaluate).search(depth)


def iterative_deepening(
    game: G,
    evaluate: Evaluation[G],
    deadline: float,
    *,
    until: Callable[[SearchResult], bool] | None = None,
    order: Callable[[G], Sequence[int]] | None = None,
    table_size: int = 0,
    key: Callable[[G], object] | None = None,
) -> SearchResult:
    """Search 1, 2, 3 ... moves deep until the deadline and return the deepest search that finished.

    It ends before the deadline when every line reached the end of the game, so that deeper search would
    find nothing new, or when `until` accepts the result of a finished depth. If not even depth 1 was
    finished, the result has depth 0: every legal move counts as best and the first one is the variation.

    Args:
        deadline: on the clock of `engine.clock.now`; it is looked at before every evaluation.
        until: for instance `lambda result: result.depth == 5`, or `lambda result: is_only_move`.
        order: the moves of a position, the most promising first (by default as the game lists them). It may
            leave out moves that are certainly not worth playing, but has to leave one.
        table_size: positions to remember at most (about 400 bytes each), 0 for none.
        key: what identifies a position in the table, player to move included; by default the game itself.
    """

    def evaluate_in_time(game: G, player: int) -> float:
        if now() >= deadline:
            raise _OutOfTimeError
        return evaluate(game, player)

    search = _AlphaBeta(game, evaluate_in_time, order, table_size, key)
    result = SearchResult(
        evaluate(game, game.turn), tuple(sorted(search.moves)), tuple(search.moves[:1]), 0, 0
    )
    done = not search.moves
    try:
        while not done:
            result = search.search(result.depth + 1)
            done = search.is_exhausted or (until is not None and until(result))
    except _OutOfTimeError:
        pass
    return result


class _OutOfTimeError(Exception):
    """The deadline passed in the middle of a search."""


class _Entry(NamedTuple):
    """What the table knows of a position: its value lies between `low` and `high`."""

    low: float
    high: float
    line: Line
    depth: int
    ended: bool  # every line looked at ended the game: deeper search gives the same

    def answers(self, depth: int, alpha: float, beta: float) -> bool:
        """Whether a search of this depth would find the same, as far as it matters between the bounds.

        A deeper search does not answer a shallower one: values would depend on the order of moves.
        """
        if self.depth != depth and not (self.ended and self.depth < depth):
            return False
        return self.low == self.high or self.low >= beta or self.high <= alpha


class _AlphaBeta(Generic[G]):
    """An alpha-beta search from one root, with what it remembers between depths."""

    def __init__(
        self,
        game: G,
        evaluate: Evaluation[G],
        order: Callable[[G], Sequence[int]] | None = None,
        table_size: int = 0,
        key: Callable[[G], object] | None = None,
    ) -> None:
        self.game = game
        self.player = game.turn
        self.evaluate = evaluate
        self.order = order or type(game).legal_moves
        self.moves = list(self.order(game))  # of the root, best of the previous depth first
        self.table: dict[object, _Entry] = {}
        self.table_size = table_size
        self.key = key or (lambda game: game)
        self.nodes = 0
        self.horizons = 0  # positions valued though the game went on

    @property
    def is_exhausted(self) -> bool:
        """Whether the last search saw the end of every line it needed."""
        return self.horizons == 0

    def search(self, depth: int) -> SearchResult:
        """The exact value of the root and all its best moves.

        A later move that is merely as good as the best so far has to be told from a worse one. So the
        lower bound is the next smaller number: what is cut off then is worse, and a tie comes out exact.
        """
        _check_depth(depth)
        self.horizons = 0
        if not self.moves:
            return SearchResult(self.evaluate(self.game, self.player), (), (), depth, self.nodes)
        best, best_moves = -inf, list[int]()
        variation: Line = ()
        for move in self.moves:
            value, reply = self.value(self.game.play(move), depth - 1, nextafter(best, -inf), inf)
            if value > best:
                best, best_moves, variation = value, [move], (move, reply)
            elif value == best:
                best_moves.append(move)
        line = tuple(_moves_of(variation))
        self.moves.sort(key=lambda move: move != line[0])
        return SearchResult(best, tuple(sorted(best_moves)), line, depth, self.nodes)

    def value(self, game: G, depth: int, alpha: float, beta: float) -> tuple[float, Line]:
        """The value of a position and its best line, as far as they matter between the bounds.

        With v the true value and r the returned one:  alpha < r < beta means v = r, and the line is best
        play;  r <= alpha means v <= r;  r >= beta means v >= r.
        """
        self.nodes += 1
        if depth == 0:
            self.horizons += bool(game.legal_moves())
            return self.evaluate(game, self.player), ()
        hint: Line = ()
        if self.table_size:
            key = self.key(game)
            entry = self.table.get(key)
            if entry:
                if entry.answers(depth, alpha, beta):
                    self.horizons += not entry.ended
                    return entry.high if entry.high <= alpha else entry.low, entry.line
                hint = entry.line
        moves = self.order(game)
        if not moves:
            return self.evaluate(game, self.player), ()
        if hint:  # the best move of the depth before goes first
            moves = [hint[0], *(move for move in moves if move != hint[0])]
        horizons = self.horizons
        value, line = self.best_of(game, moves, depth, alpha, beta)
        if self.table_size:
            low = value if value > alpha else -inf
            high = value if value < beta else inf
            if len(self.table) >= self.table_size:
                self.table.clear()
            self.table[key] = _Entry(low, high, line, depth, self.horizons == horizons)
        return value, line

    def best_of(
        self, game: G, moves: Iterable[int], depth: int, alpha: float, beta: float
    ) -> tuple[float, Line]:
        """The best of `moves` for the player to move; bounds as for `value`."""
        line: Line = ()
        if game.turn == self.player:
            best = -inf
            for move in moves:
                value, reply = self.value(game.play(move), depth - 1, alpha, beta)
                if value > best:
                    best, line = value, (move, reply)
                    alpha = max(alpha, value)
                    if alpha >= beta:
                        break
        else:
            best = inf
            for move in moves:
                value, reply = self.value(game.play(move), depth - 1, alpha, beta)
                if value < best:
                    best, line = value, (move, reply)
                    beta = min(beta, value)
                    if alpha >= beta:
                        break
        return best, line


def forced_moves(game: Game) -> Sequence[int]:
    """Moves a position dictates: those that win at once, or else the only one that does not lose at once.

    None where the game is over or the player to move has a choice: the position is quiet. Where every move
    loses at once, the first one stands for all. A game that can see wins and threats without playing the
    moves out should bring its own version of this.
    """
    moves = game.legal_moves()
    wins = winning_moves(game)
    if wins or not moves:
        return wins
    safe = [move for move in moves if not winning_moves(game.play(move))]
    return (safe or moves[:1]) if len(safe) <= 1 else ()


def winning_moves(game: Game) -> Sequence[int]:
    """Legal moves with which the player to move wins at once."""
    return [move for move in game.legal_moves() if game.play(move).winner == game.turn]


def quiescence(evaluate: Evaluation[G], forced: Callable[[G], Sequence[int]] = forced_moves) -> Evaluation[G]:
    """An evaluation that plays forced moves first, and values the quiet position they lead to.

    So a search with it sees a win, or the defence against one, just beyond its depth. As one move stands
    for all that a position forces, this is a single line of play and not a search of its own.
    """

    def evaluate_when_quiet(game: G, player: int) -> float:
        while moves := forced(game):
            game = game.play(moves[0])
        return evaluate(game, player)

    return evaluate_when_quiet


def _check_depth(depth: int) -> None:
    if depth < 1:
        raise ValueError(f"a search looks at least 1 move ahead, not {depth}")


def _moves_of(line: Line) -> list[int]:
    """A linked line as a list."""
    moves = []
    while line:
        move, line = line
        moves.append(move)
    return moves
