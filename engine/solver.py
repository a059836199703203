"""The exact value of a position, in Python to be read: the twin of the native core (engine/native/core.c).

Scores are Pascal Pons': from the side to move, 0 is a draw; positive a win, 1 with the last own disc, 2 with
the one before, and so on; negative a loss likewise. So the largest score is the quickest win, and the least
negative one the longest resistance.

The search is negamax over bitboards, and asks one question only: is the score above alpha? The score is found
by asking it for a few alphas (`ExactSolver.solve`). Most questions end without a search, by rules about
winning cells, the empty cells that would complete a line:

- Two of the opponent's that can be played lose, one must be played, and no move is made right below one.
  (Pons, "Solving Connect 4: how to build a perfect AI", 2019.)
- Two of one's own that can be played next, or one above the other, win; so does leaving the opponent with no
  move but right below one (`wins_by_force`).
- Whoever answers every move right above it gets the cells of every other row (`prove`). This is the zugzwang
  of Connect Four, the "follow-up" of Allis, "A knowledge-based approach of Connect-Four", 1988.
- What was learnt before about this position or about a child of it (`BoundTable`; looking at the children
  first is Plaat's enhanced transposition cutoff, 1996).

The core does the same, and on the standard board visits the same number of nodes, which the tests compare:
that is why a table has buckets here, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from engine.board import Board, Geometry
from engine.clock import now

ROOT_WINDOW = 5  # quick wins and losses beyond this score are looked for first: that costs little
NEAR_CELLS = 20  # positions with at most so many empty cells have a table of their own,
LAST_CELLS = 6  # with at most so many none
MIRROR_PLIES = 10  # positions of at most so many discs share an entry with their mirror image
LANES = 4  # moves that the core proves at the same time
CLOCK_NODES = 32  # between two looks at the clock, a millisecond or two
GOLDEN = 0x9E3779B97F4A7C15  # 2**64 divided by the golden ratio: multiplying by it scatters keys

# What a move is worth in the order of trying: for each winning cell it creates, more if that can be played
# next or after that; less for giving away the cell above. Then the cell's own worth, found by counting nodes
# (engine/native/STEPS.md): side to move with an even, odd number of cells left; row; distance from the edge.
THREAT, THREAT_NOW, THREAT_NEXT, THREAT_WASTED = 40, 32, 8, 96
CELL_WORTH = (
    ((0, 6, 15, 18), (4, 7, 19, 22), (0, 6, 18, 21), (4, 10, 16, 22), (3, 6, 12, 15), (10, 10, 13, 22)),
    ((0, 0, 12, 15), (4, 10, 13, 22), (3, 12, 15, 18), (10, 13, 16, 22), (3, 6, 9, 18), (13, 16, 16, 22)),
)

Entry = tuple[int, int, int, int]  # key, logarithm of the nodes it took, upper bound, lower bound
Child = tuple[int, int, int]  # the move's cell, then all winning cells of who made it, and all cells to play


class OutOfTimeError(Exception):
    """The deadline passed before the position was solved."""


class BoundTable:
    """What is known about positions: buckets of four entries. Of a full one the entry of least work goes, or
    the oldest.
    """

    def __init__(self, key_bits: int, buckets: int, oldest_goes: bool) -> None:
        self.key_bits = key_bits
        self.buckets = buckets
        self.oldest_goes = oldest_goes
        self.entries: dict[int, list[Entry]] = {}

    def bucket(self, key: int) -> int:
        """The number of the bucket of a key: the top of a product."""
        return (key * GOLDEN & (1 << self.key_bits) - 1) * self.buckets >> self.key_bits

    def get(self, key: int) -> Entry | None:
        """What is known about the position of this key."""
        for entry in self.entries.get(self.bucket(key), ()):
            if entry[0] == key:
                return entry
        return None

    def put(self, key: int, work: int, upper: int, lower: int) -> None:
        """Remembers bounds that took `work` nodes."""
        new = key, max(0, work.bit_length() - 1), upper, lower
        entries = self.entries.setdefault(self.bucket(key), [])
        old = next((i for i, entry in enumerate(entries) if entry[0] == key), None)
        if self.oldest_goes:
            if old is not None or len(entries) == 4:
                del entries[-1 if old is None else old]
            entries.insert(0, new)
        elif old is None and len(entries) < 4:
            entries.append(new)
        else:
            entries[min(range(4), key=lambda i: entries[i][1]) if old is None else old] = new


class ExactSolver:
    """Solves positions of one size of board, and remembers what it has learnt from one to the next."""

    def __init__(self, rows: int = 6, columns: int = 7, inarow: int = 4) -> None:
        self.shape = shape = Board(rows, columns, inarow).geometry
        self.cells = shape.cells
        self.bottoms = sum(shape.bottoms)
        self.board = sum(shape.full_columns)
        self.sentinels = self.bottoms << rows
        # Who answers every move right above it gets the rows of the top row's parity: 2, 4, 6.
        self.claim_rows = sum(self.bottoms << row for row in range(rows) if (rows - row) % 2)
        self.lines = {
            1 << bit: [line for line in shape.lines if line >> bit & 1]
            for bit in range(shape.stride * columns)
            if self.board >> bit & 1
        }
        self.worth = [worth_of_cells(shape, side) for side in (0, 1)]
        self.nodes = 0  # positions visited by the last call
        self.deadline = inf
        self.forget()

    def forget(self) -> None:
        """Empties the tables, which are as large as those of the core."""
        bits = self.shape.stride * self.shape.columns
        self.table = BoundTable(bits, 2**21, oldest_goes=False)
        self.near_table = BoundTable(bits, 2**15, oldest_goes=True)

    def score(self, board: Board, *, deadline: float = inf) -> int:
        """The score of a position whose game is not won (`ValueError`); 0 on a full board.

        `deadline` is on the clock of `engine.clock.now`. Raises `OutOfTimeError`.
        """
        self.start(board, deadline)
        return self.solve(board)

    def column_scores(self, board: Board, *, deadline: float = inf) -> list[int | None]:
        """The score of every column for the side to move; None for a full one. Otherwise like `score`."""
        self.start(board, deadline)
        scores: list[int | None] = [None] * self.shape.columns
        for column in board.legal_moves():
            scores[column] = self.solve_move(board, column)
        return scores

    def best_columns(
        self, board: Board, *, score: int | None = None, deadline: float = inf
    ) -> tuple[int, list[int]]:
        """The score of a position and all 0-based columns that reach it; none on a full board.

        Much cheaper than `column_scores`: once the score is known, from `score` or from a search, one null
        window tells whether a column reaches it. `score` is believed. Otherwise like `score`.
        """
        self.start(board, deadline)
        if score is None:
            score = self.solve(board)
        best: list[int] = []
        moves = board.legal_moves()
        for column in moves:
            is_last_hope = not best and column == moves[-1]
            if is_last_hope or self.solve_move(board, column, score - 1, score) >= score:
                best.append(column)
        return score, best

    def reaches(self, board: Board, column: int, score: int, *, deadline: float = inf) -> bool:
        """Whether a move is worth `score` or more to the side that makes it: one null window."""
        self.start(board, deadline)
        return self.solve_move(board, column, score - 1, score) >= score

    def principal_variation(self, board: Board, *, deadline: float = inf) -> list[int]:
        """Best play of both sides to the end, 0-based; of equally good columns the leftmost. Like `score`."""
        line: list[int] = []
        score = None
        while not board.is_over:
            score, columns = self.best_columns(board, score=score, deadline=deadline)
            line.append(columns[0])
            board, score = board.play(columns[0]), -score
        return line

    def start(self, board: Board, deadline: float) -> None:
        """Begins a call."""
        if board.winner:
            raise ValueError("the game is over: only positions to play on have a score")
        self.nodes, self.deadline = 0, deadline

    def solve_move(self, board: Board, column: int, alpha: float = -inf, beta: float = inf) -> int:
        """What a move is worth to the side that makes it; with a window, like `solve`."""
        child = board.play(column)
        return self.win_score(child.ply) if child.winner else -self.solve(child, -beta, -alpha)

    def solve(self, board: Board, alpha: float = -inf, beta: float = inf) -> int:
        """The score if it is between alpha and beta, else a bound on the same side of that window.

        Null windows: from far out towards 0, where a window costs little, then 0, then halves.
        """
        own, other, ply = board.own, board.other, board.ply
        own_wins, other_wins = self.winning_cells(own, other), self.winning_cells(other, own)
        if ply == self.cells:
            return 0
        if own_wins & self.playable(own | other):
            return self.win_score(ply + 1)
        lower, upper = -self.win_score(ply + 2), self.win_score(ply + 3)
        while lower < upper and lower < beta and upper > alpha:
            middle = 0
            if lower >= 0:
                middle = lower + (upper - lower - 1) // 2
            elif upper <= 0:
                middle = upper - 1 - (upper - lower - 1) // 2
            elif -lower > ROOT_WINDOW and -lower >= upper:
                middle = min(-(-lower // 2), -ROOT_WINDOW)
            elif upper > ROOT_WINDOW:
                middle = max(upper // 2, ROOT_WINDOW)
            middle = int(max(min(middle, beta - 1), alpha))
            value = self.search(own, other, own_wins, other_wins, middle)
            if value > middle:
                lower = value
            else:
                upper = value
        return upper if lower < beta and upper <= alpha else lower

    def search(self, own: int, other: int, own_wins: int, other_wins: int, alpha: int) -> int:
        """Is the score above alpha? Returns a bound that tells: a lower one above alpha, or an upper one not
        above it. Nobody has a line, and the side to move cannot complete one now.
        """
        self.count_node()
        taken = own | other
        ply = taken.bit_count()
        playable = self.playable(taken)
        forced = playable & other_wins
        moves = (forced or playable) & ~(other_wins >> 1)
        if forced & forced - 1 or not moves:
            lower = upper = -self.win_score(ply + 2)
        elif ply + 2 >= self.cells:
            lower = upper = 0
        else:
            lower, upper = -self.win_score(ply + 4), self.win_score(ply + 3)
        if not lower <= alpha < upper:
            return lower if lower > alpha else upper
        if not forced and (entry := self.known(own, taken)):
            lower, upper = max(lower, entry[3]), min(upper, entry[2])
            if not lower <= alpha < upper:
                return lower if lower > alpha else upper

        children = [self.child(own, other, own_wins, playable, move) for move in bits_of(moves)]
        proven = self.proven(children, own, other, ply, alpha)
        if proven is not None:
            return proven
        if forced:
            return -self.search(other, own | moves, other_wins & ~moves, children[0][1], -alpha - 1)
        for move, _, _ in children:
            if (entry := self.known(other, taken | move)) and -entry[2] > alpha:
                return -entry[2]
        before = self.nodes
        upper = min(upper, self.win_score(ply + 5))
        value = -self.cells
        for move, wins, _ in self.ordered(children, playable, own_wins, other_wins, ply):
            value = max(value, -self.search(other, own | move, other_wins & ~move, wins, -alpha - 1))
            if value > alpha:
                break
        value = min(value, upper)
        lower, upper = (value, upper) if value > alpha else (lower, value)
        self.remember(own, taken, self.nodes - before, upper, lower)
        return value

    def win_score(self, ply: int) -> int:
        """The score of a win with disc number `ply`."""
        return max(0, self.cells + 2 - ply) // 2

    def playable(self, taken: int) -> int:
        """The lowest empty cell of every column that has one."""
        return taken + self.bottoms & self.board

    def winning_cells(self, own: int, other: int) -> int:
        """The empty cells where a disc would complete a line."""
        cells = 0
        for line in self.shape.lines:
            missing = line & ~own
            if not missing & missing - 1:
                cells |= missing
        return cells & ~other

    def child(self, own: int, other: int, own_wins: int, playable: int, move: int) -> Child:
        """The position after a move. New winning cells are on lines through it."""
        own |= move
        for line in self.lines[move]:
            missing = line & ~own
            if not missing & missing - 1:
                own_wins |= missing
        return move, own_wins & ~(own | other), playable ^ move | move << 1 & self.board

    def wins_by_force(self, child: Child) -> bool:
        """Whether the move wins next turn: by two winning cells at once, by two above each other of which the
        lower can be played, or since the opponent can only play right below one.
        """
        _, wins, playable = child
        at_once = wins & playable
        return bool(at_once & at_once - 1 or at_once << 1 & wins or not playable & ~(wins >> 1))

    def count_node(self) -> None:
        """Counts, and looks at the clock now and then."""
        self.nodes += 1
        if self.nodes % CLOCK_NODES == 0 and now() >= self.deadline:
            raise OutOfTimeError("the position was not solved in time")

    def proven(self, children: list[Child], own: int, other: int, ply: int, alpha: int) -> int | None:
        """A bound that tells whether the best of these moves is worth more than alpha, if one is seen without
        a search.
        """
        if any(self.wins_by_force(child) for child in children):
            return self.win_score(ply + 3)
        if self.win_score(ply + 5) <= alpha:
            return self.win_score(ply + 5)
        for i in range(0, len(children), LANES):
            score = self.prove(children[i : i + LANES], own, other, max(alpha, -1))
            if score is not None:
                return score
        return None

    def prove(self, children: Sequence[Child], own: int, other: int, above: int) -> int | None:
        """A score above `above`, at least -1, that the side that has just moved is sure of in one of several
        positions; None if there is no proof.

        If the number of empty cells is even, it can answer every move right above it and so gets every cell
        of `claim_rows` except those to be played now. (Where the opponent takes one of these, it answers in
        another such column; their number is even.) Give all other cells to the opponent: if that makes no
        line, it does not win, and if the claimed cells make one, it loses. It never gets cells above a
        claimed winning cell.

        If the number is odd, a winning cell on a row of the other parity is needed. The follower answers in
        the same way but leaves that column alone from below the cell's lower neighbour: the number of other
        cells is even, so the opponent has to play below the winning cell in the end.
        """
        left = self.cells - (own | other).bit_count() - 1
        if left % 2 == 0:
            return above + 1 if above <= 0 and self.prove_even(children, own, other, above) else None
        threats = 0
        for _, wins, playable in children:
            threats |= wins & ~playable & ~self.claim_rows
        for threat in bits_of(threats):
            column, row = divmod(threat.bit_length() - 1, self.shape.stride)
            score = self.win_score(self.cells - self.shape.rows + row + 1)
            if score > above and self.prove_odd(
                children, own, other, threat, self.shape.full_columns[column]
            ):
                return score
        return None

    def prove_even(self, children: Sequence[Child], own: int, other: int, above: int) -> bool:
        """Whether follow-up holds the draw in one of the positions; wins it, if `above` is 0."""
        for move, wins, playable in children:
            empty = self.board & ~(own | other | move)
            claims = empty & ~playable & self.claim_rows
            may = empty & ~claims & ~self.upward(wins & claims)
            if not self.shape.has_line(other | may) and (above or self.shape.has_line(own | move | claims)):
                return True
        return False

    def prove_odd(self, children: Sequence[Child], own: int, other: int, threat: int, column: int) -> bool:
        """Whether the follower wins by `threat`, in that column, in one of the positions."""
        below = column & threat - 1
        for move, wins, playable in children:
            if not wins & ~playable & threat:
                continue
            empty = self.board & ~(own | other | move)
            later = empty & ~playable
            claims = later & self.claim_rows & ~column
            claims_below = later & ~self.claim_rows & below
            others = empty & ~claims & ~claims_below & (~column | below)
            if not self.shape.has_line(other | others & ~self.upward(wins & claims)):
                return True
        return False

    def upward(self, cells: int) -> int:
        """These cells and all above them: each column's lowest, subtracted from its sentinel, fills what is
        between.
        """
        return (cells + self.board & self.sentinels) - cells | cells

    def ordered(
        self, children: list[Child], playable: int, own_wins: int, other_wins: int, ply: int
    ) -> list[Child]:
        """The moves, best first: those that create winning cells, not right above one of the opponent's."""
        worth_of = self.worth[(self.cells - ply) % 2]

        def worth(child: Child) -> int:
            move, wins, _ = child
            useful = wins & ~(other_wins << 1)
            soon = playable ^ move | move << 1
            return (
                THREAT_WASTED * bool(own_wins & move << 1)
                - THREAT * useful.bit_count()
                - THREAT_NOW * (wins & soon).bit_count()
                - THREAT_NEXT * (useful & soon << 1).bit_count()
                - worth_of[move]
            )

        return sorted(children, key=worth)

    def table_for(self, taken: int) -> BoundTable | None:
        """The table for positions with so many cells taken."""
        left = self.cells - taken.bit_count()
        return None if left <= LAST_CELLS else self.near_table if left <= NEAR_CELLS else self.table

    def known(self, own: int, taken: int) -> Entry | None:
        """What has been learnt about a position."""
        table = self.table_for(taken)
        return table.get(self.key(own, taken)) if table else None

    def remember(self, own: int, taken: int, work: int, upper: int, lower: int) -> None:
        """Notes bounds of a position that took `work` nodes."""
        if table := self.table_for(taken):
            table.put(self.key(own, taken), work, upper, lower)

    def key(self, own: int, taken: int) -> int:
        """A number of its own for every position, or for it and its mirror image."""
        key = own + taken
        if taken.bit_count() > MIRROR_PLIES:
            return key
        stride, column = self.shape.stride, (1 << self.shape.stride) - 1
        mirror, rest = 0, key
        for _ in range(self.shape.columns):
            mirror, rest = mirror << stride | rest & column, rest >> stride
        return min(key, mirror)


def bits_of(cells: int) -> list[int]:
    """The cells one by one, lowest bit first."""
    found = []
    while cells:
        found.append(cells & -cells)
        cells &= cells - 1
    return found


def worth_of_cells(shape: Geometry, side: int) -> dict[int, int]:
    """What a cell is worth in the order of moves; on other boards than the standard one by simple rules."""
    is_standard = (shape.rows, shape.columns, shape.inarow) == (6, 7, 4)
    worth = {}
    for column in range(shape.columns):
        edge = min(column, shape.columns - 1 - column)
        for row in range(shape.rows):
            generic = 6 * edge + 4 * ((shape.rows - row) % 2)
            worth[shape.bit(row, column)] = CELL_WORTH[side][row][edge] if is_standard else generic
    return worth
