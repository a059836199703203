"""What is promised of every agent, tried on every module of agents/, new ones included."""

import random
from collections.abc import Callable, Sequence
from copy import deepcopy
from importlib import import_module
from pathlib import Path
from time import perf_counter
from types import ModuleType

import pytest

import agents
from engine.board import Board
from tests.agents.observations import configure, observe

NAMES = sorted(path.stem for path in Path(agents.__file__).parent.glob("[a-z]*.py"))
# These value a win now no higher than one later, or nothing at all.
MISS_WINS = {"n_step", "random_legal"}
ACT_TIMEOUT = 0.02  # seconds; short, so that whole games are quick
SIZES = [
    (6, 7, 4),
    (1, 1, 4),
    (1, 1, 1),
    (6, 7, 1),
    (4, 5, 2),
    (4, 5, 3),
    (3, 4, 9),
    (4, 12, 4),
    (12, 1, 4),
    (15, 15, 5),
]

Player = Callable[[Board], int]


@pytest.fixture(params=NAMES)
def module(request: pytest.FixtureRequest) -> ModuleType:
    """Each agent in turn; for all tests, and games within a test, the same module with what it remembers."""
    random.seed(request.param)
    return import_module(f"agents.{request.param}")


class Seat:
    """An agent as the referee sees it: shown each position, its time taken, its answers checked."""

    def __init__(self, agent: Callable[..., object]) -> None:
        self.agent = agent
        self.bank: float = 60

    def __call__(self, board: Board) -> int:
        obs, config = observe(board, self.bank), configure(board, ACT_TIMEOUT)
        shown = deepcopy((obs, config))
        start = perf_counter()
        move = self.agent(obs, config)
        self.bank -= max(0.0, perf_counter() - start - ACT_TIMEOUT)
        assert self.bank >= 0, "lost on time"
        assert (obs, config) == shown, "the agent changed what it was shown"
        assert type(move) is int
        assert move in board.legal_moves(), f"\n{board}"
        return move


def play(players: Sequence[Player], board: Board) -> Board:
    while not board.is_over:
        board = board.play(players[board.turn - 1](board))
    return board


def random_player(rng: random.Random) -> Player:
    return lambda board: rng.choice(board.legal_moves())


def test_every_agent_is_found() -> None:
    assert {"random_legal", "one_step", "n_step"} <= set(NAMES)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_plays_whole_games_in_both_seats(module: ModuleType, size: tuple[int, int, int]) -> None:
    rng = random.Random(1)
    first, second = Seat(module.agent), Seat(module.agent)
    play([first, random_player(rng)], Board(*size))
    play([random_player(rng), second], Board(*size))


@pytest.mark.parametrize("size", [(6, 7, 4), (1, 1, 1), (4, 5, 3), (3, 4, 9)], ids=str)
def test_plays_itself_with_one_function_in_both_seats(module: ModuleType, size: tuple[int, int, int]) -> None:
    play([Seat(module.agent), Seat(module.agent)], Board(*size))


def positions_with_a_win(rng: random.Random, size: tuple[int, int, int], number: int) -> list[Board]:
    found: list[Board] = []
    while len(found) < number:
        board = Board(*size)
        while not (after := board.play(rng.choice(board.legal_moves()))).is_over:
            board = after
        if after.winner:  # the last move of a random game won it
            found.append(board)
    return found


@pytest.mark.parametrize("module", sorted(set(NAMES) - MISS_WINS), indirect=True)
@pytest.mark.parametrize("size", [(6, 7, 4), (4, 5, 3), (4, 12, 4), (9, 9, 5), (3, 3, 1)], ids=str)
def test_takes_a_win_at_once(module: ModuleType, size: tuple[int, int, int]) -> None:
    for board in positions_with_a_win(random.Random(1), size, 20):
        assert board.play(Seat(module.agent)(board)).winner == board.turn, f"\n{board}"


def test_does_not_mind_that_there_is_hardly_any_time(module: ModuleType) -> None:
    board = Board.from_moves("4433")
    for bank, act_timeout in ((0, ACT_TIMEOUT), (-1, 0.5), (60, 0.0001)):
        move = module.agent(observe(board, bank), configure(board, act_timeout))
        assert type(move) is int
        assert move in board.legal_moves()


def test_is_the_last_callable_of_its_module_and_takes_two_arguments(module: ModuleType) -> None:
    """Kaggle plays the last callable of a file, by the order in which names were bound first."""
    callables = [value for value in vars(module).values() if callable(value)]
    assert callables[-1] is module.agent
    assert module.agent.__code__.co_varnames[: module.agent.__code__.co_argcount] == ("obs", "config")
