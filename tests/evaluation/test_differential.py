"""The fast referee against the real kaggle_environments: the same steps, rewards and statuses.

The games of the official side are run here with `make` and `env.run` alone, not through
`evaluation.kaggle`; whether that module tells the same story is compared beside it.
"""

import enum
import json
import sys
from copy import deepcopy
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import chain, repeat
from random import Random

import numpy as np
import pytest

from evaluation import kaggle, referee
from evaluation.errors import InputError
from evaluation.records import Ending, GameRecord

GAMES = 500


@pytest.fixture(scope="module", autouse=True)
def kaggle_environments():
    return pytest.importorskip("kaggle_environments")


class Column(enum.IntEnum):
    FIRST = 0


class Whole(int):
    pass


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no text")


class Uncopyable:
    def __deepcopy__(self, memo):
        raise RuntimeError("no copy")


def answering(answer, before=()):
    """An agent that plays the columns `before` and then gives `answer()`."""
    columns = list(before)
    return lambda _obs, _config: columns.pop(0) if columns else answer()


def raising(error):
    def agent(obs, config):
        raise error

    return agent


def random_player(seed, misbehave_at=None, answer=None, seen=None):
    """Plays random columns, but gives `answer()` at one call; notes what it is shown, and spoils it."""
    rng = Random(seed)
    calls = 0

    def agent(obs, config):
        nonlocal calls
        calls += 1
        if seen is not None:
            shown = [(key, value) for key, value in obs.items() if key != "remainingOverageTime"]
            seen.append(
                repr((list(obs), shown, list(config.items()), vars(obs) == obs, vars(config) == config))
            )
        column = rng.choice([c for c in range(config.columns) if obs.board[c] == 0])
        obs.board[:] = [9]
        obs.step = obs["mark"] = config.columns = config["rows"] = -1
        return answer() if misbehave_at == calls else column

    return agent


def fail(error=ValueError):
    raise error("on purpose")


MISDEEDS = [
    *(
        lambda value=value: value
        for value in (-1, 8, 3.5, 9.0, 3.0, None, True, "3", np.int64(3), [3], 10**5000)
    ),
    fail,
    lambda: fail(SystemExit),
    lambda: ValueError("returned"),
    lambda: (i for i in range(3)),
]


def text(steps):
    """Steps as JSON, which tells 9 from 9.0 and one order of keys from another, without the banks of time."""
    steps = json.loads(json.dumps(steps))
    for step in steps:
        for state in step:
            del state["observation"]["remainingOverageTime"]
    return json.dumps(steps)


def official(agents, configuration=None, opening=()):
    """The environment after a run, and the exception that left it, if one did."""
    from kaggle_environments import make

    env = make("connectx", configuration=configuration)
    for ply, column in enumerate(opening):
        env.step([None, column] if ply % 2 else [column, None])
    try:
        env.run(agents)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return env, error
    return env, None


def assert_same(record, env, error):
    assert text(record.steps) == text(env.toJSON()["steps"])
    assert dict(env.configuration) == record.configuration
    assert (record.ending is Ending.CRASH) == (error is not None)
    if error is None:
        assert list(record.rewards) == [state.reward for state in env.state]
        assert list(record.statuses) == [state.status for state in env.state]
    else:
        assert sorted(state.status for state in env.state) == ["ACTIVE", "INACTIVE"]
        assert env.state[record.culprit].status == "ACTIVE"
    calls = [log for turn in env.logs for log in turn if log]
    assert len(record.seconds) == len(calls)


def without_times(record):
    return {key: value for key, value in vars(record).items() if key not in ("seconds", "stderr", "steps")}


def random_setting(rng):
    rows, columns = rng.randint(1, 7), rng.randint(1, 8)
    settings = {"columns": columns, "rows": rows, "inarow": rng.randint(1, 5)}
    if rng.random() < 0.4:
        settings["episodeSteps"] = rng.randint(1, rows * columns + 2)
    if rng.random() < 0.1:
        settings["theme"] = {"colours": ["red", {"dark": True}]}
    return settings


def random_opening(rng, settings):
    """A legal opening after which the agents still have something to play."""
    settings = referee.configuration(**settings)
    opening = []
    for _ in range(rng.choice([0, 0, 1, 2, 5])):
        column = rng.randrange(settings["columns"])
        try:
            referee.start_position(settings, [*opening, column])
        except ValueError:
            break
        opening.append(column)
    return opening


@pytest.mark.parametrize("part", range(10))
def test_random_games_on_random_boards_with_misbehaving_agents(part):
    endings = set()
    for number in range(part, GAMES, 10):
        rng = Random(number)
        settings = random_setting(rng)
        opening = random_opening(rng, settings)
        misdeeds = [
            (rng.randint(1, 8), rng.choice(MISDEEDS)) if rng.random() < 0.3 else (None, None) for _ in "ab"
        ]
        seeds = [rng.random() for _ in "ab"]

        def players(seen, seeds=seeds, misdeeds=misdeeds):
            return [
                random_player(seed, *misdeed, seen) for seed, misdeed in zip(seeds, misdeeds, strict=True)
            ]

        seen, seen_there = [], []
        record = referee.play_game(players(seen), settings, opening)
        assert_same(record, *official(players(seen_there), settings, opening))
        assert seen == seen_there
        endings.add(record.ending)
        if number < GAMES // 10:
            there = kaggle.play_game(players([]), settings, opening)
            assert without_times(there) == without_times(record)
            assert text(there.steps) == text(record.steps)
    assert len(endings) >= 4


def moving(obs, config):
    """The opponent in the table: the first free column from the second on."""
    return next(column for column in range(1, config.columns) if not obs.board[column])


def judged(agents, settings=None, opening=()):
    """The fast referee's record, after the environment and `evaluation.kaggle` have told the same."""
    record = referee.play_game(agents(), settings, opening)
    env, error = official(agents(), settings, opening)
    assert_same(record, env, error)
    there = kaggle.play_game(agents(), settings, opening)
    assert without_times(there) == without_times(record)
    assert text(there.steps) == text(env.toJSON()["steps"])
    assert text(GameRecord.from_json(there.to_json()).steps) == text(env.toJSON()["steps"])
    return record


def in_seat(seat, agent):
    """A function that makes both agents: what `agent()` gives in its seat, `moving` in the other."""
    return lambda: [agent(), moving] if seat == 0 else [moving, agent()]


async def think():
    return 3


def coroutine():
    awaitable = think()
    awaitable.close()  # or Python complains that nobody awaits it
    return awaitable


class Player:
    """Two more forms an agent may have."""

    def __call__(self, _obs, _config):
        return 0

    def method(self, _obs):
        return 0


def deadline():
    from kaggle_environments.errors import DeadlineExceeded

    return DeadlineExceeded


def recurse():
    return recurse()


def close_stdout():
    sys.stdout.close()


ONE_ROW = {"rows": 1, "inarow": 7}
# What the culprit plays before, what it answers then, and the status and the action Kaggle records.
FORFEITS = {
    "a column too many": ((), lambda: 7, "INVALID", 7),
    "a column far away": ((), lambda: 10**30, "INVALID", 10**30),
    "a full column": ((0,), lambda: 0, "INVALID", 0),
    "None for a full column": ((0,), lambda: None, "INVALID", 0),
    "9.0": ((), lambda: 9.0, "INVALID", 9.0),
    "1e300": ((), lambda: 1e300, "INVALID", 1e300),
    "np.float64(9)": ((), lambda: np.float64(9), "INVALID", 9.0),
    "-1": ((), lambda: -1, "INVALID", None),
    "-3.0": ((), lambda: -3.0, "INVALID", None),
    "3.5": ((), lambda: 3.5, "INVALID", None),
    "nan": ((), lambda: float("nan"), "INVALID", None),
    "inf": ((), lambda: float("inf"), "INVALID", None),
    "True": ((), lambda: True, "INVALID", None),
    "False": ((), lambda: False, "INVALID", None),
    "a string": ((), lambda: "3", "INVALID", None),
    "a list": ((), lambda: [3], "INVALID", None),
    "a tuple": ((), lambda: (3,), "INVALID", None),
    "a dictionary": ((), lambda: {"column": 3}, "INVALID", None),
    "an object": ((), object, "INVALID", None),
    "an object that cannot be printed": ((), Unprintable, "INVALID", None),
    "np.int64": ((), lambda: np.int64(3), "INVALID", None),
    "np.uint8": ((), lambda: np.uint8(3), "INVALID", None),
    "np.bool_": ((), lambda: np.bool_(True), "INVALID", None),
    "np.float32": ((), lambda: np.float32(3), "INVALID", None),
    "np.array(3)": ((), lambda: np.array(3), "INVALID", None),
    "np.array([3])": ((), lambda: np.array([3]), "INVALID", None),
    "Decimal": ((), lambda: Decimal(3), "INVALID", None),
    "Fraction": ((), lambda: Fraction(3), "INVALID", None),
    "complex": ((), lambda: 3 + 0j, "INVALID", None),
    "bytes": ((), lambda: b"3", "INVALID", None),
    "a function": ((), lambda: lambda: 3, "INVALID", None),
    "raises": ((), fail, "ERROR", None),
    "raises after a move": ((0,), fail, "ERROR", None),
    "raises RecursionError": ((), recurse, "ERROR", None),
    "returns an exception": ((), lambda: ValueError("returned"), "ERROR", None),
    "returns SystemExit": ((), lambda: SystemExit(1), "ERROR", None),
    "raises DeadlineExceeded": ((), lambda: fail(deadline()), "TIMEOUT", None),
    "returns DeadlineExceeded": ((), lambda: deadline()("late"), "TIMEOUT", None),
}


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(("before", "answer", "status", "recorded"), FORFEITS.values(), ids=FORFEITS)
def test_a_forfeit_gives_the_culprit_none_and_the_other_nothing(seat, before, answer, status, recorded):
    record = judged(in_seat(seat, lambda: answering(answer, before)), ONE_ROW)
    assert record.ending == Ending[status]
    assert record.culprit == seat
    assert record.rewards[seat] is None
    assert record.rewards[1 - seat] == 0
    assert record.statuses[seat] == status
    assert record.statuses[1 - seat] == "DONE"
    assert repr(record.steps[-1][seat]["action"]) == repr(recorded)
    assert len(record.moves) == seat + 2 * len(before)


CRASHES = {
    "3.0": lambda: 3.0,
    "-0.0": lambda: -0.0,
    "np.float64(3)": lambda: np.float64(3),
    "a generator": lambda: (i for i in range(3)),
    "a coroutine": coroutine,
    "an object that cannot be copied": Uncopyable,
    "a number too long to print": lambda: 10**5000,
    "sys.exit": sys.exit,
    "GeneratorExit": lambda: fail(GeneratorExit),
    "closes stdout": close_stdout,
}


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("answer", CRASHES.values(), ids=CRASHES)
def test_what_breaks_off_the_run_is_a_forfeit_of_the_culprit(seat, answer):
    record = judged(in_seat(seat, lambda: answering(answer, [0])))
    assert record.ending is Ending.CRASH
    assert record.culprit == seat
    assert record.rewards == ((None, 0) if seat == 0 else (0, None))
    assert record.statuses == (("ERROR", "DONE") if seat == 0 else ("DONE", "ERROR"))
    assert record.points(seat) == 0
    assert len(record.moves) == 2 + seat
    assert record.stderr.startswith("Traceback")


LEGAL = {
    "None": lambda: lambda _obs, _config: None,
    "an IntEnum": lambda: lambda _obs, _config: Column.FIRST,
    "an int subclass": lambda: lambda _obs, _config: Whole(0),
    "one argument": lambda: lambda _obs: 0,
    "no argument": lambda: lambda: 0,
    "a default argument": lambda: lambda _obs, _config, depth=0: depth,
    "*args gets none": lambda: lambda *args: len(args),
    "an object": Player,
    "a partial": lambda: partial(lambda column, _obs, _config: column, 0),
}


WRONG = {
    "three arguments": lambda: lambda _obs, _config, _more: 0,
    "a method, which is given both arguments": lambda: Player().method,
    "a class": lambda: Whole,
}


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("agent", LEGAL.values(), ids=LEGAL)
def test_forms_of_agents_and_of_answers_that_play_column_0(seat, agent):
    record = judged(in_seat(seat, agent), {"rows": 3})
    assert record.ending is Ending.INVALID  # once column 0 is full
    assert record.moves[seat::2] == (0, 0, 0)
    assert all(type(column) is int for column in record.moves)
    assert all(type(step[seat]["action"]) is int for step in record.steps)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("agent", WRONG.values(), ids=WRONG)
def test_forms_of_agents_that_cannot_be_called(seat, agent):
    assert judged(in_seat(seat, agent)).ending is Ending.ERROR


# Settings, the columns both play in turn, the ending and the rewards.
ENDINGS = {
    "seat 0 wins": ({}, (0, 1, 0, 1, 0, 1, 0), Ending.LINE, (1, -1)),
    "seat 1 wins": ({}, (6, 0, 1, 0, 1, 0, 1, 0), Ending.LINE, (-1, 1)),
    "along the row": ({}, (0, 0, 1, 1, 2, 2, 3), Ending.LINE, (1, -1)),
    "up the diagonal": ({"inarow": 3}, (0, 1, 1, 2, 3, 2, 2), Ending.LINE, (1, -1)),
    "down the diagonal": ({"inarow": 3}, (2, 1, 1, 0, 3, 0, 0), Ending.LINE, (1, -1)),
    "a full board": ({"rows": 1, "columns": 3}, (0, 1, 2), Ending.FULL, (0, 0)),
    "the last disc wins": ({"rows": 1, "columns": 3, "inarow": 2}, (0, 2, 1), Ending.LINE, (1, -1)),
    "episodeSteps": ({"episodeSteps": 3}, (0, 0), Ending.STEPS, (0, 0)),
    "one step is no step": ({"episodeSteps": 1}, (4,), Ending.STEPS, (0, 0)),
    "two steps are one action": ({"episodeSteps": 2}, (4,), Ending.STEPS, (0, 0)),
    "a win on the last step": ({"inarow": 2, "episodeSteps": 4}, (0, 6, 0), Ending.LINE, (1, -1)),
    "full on the last step": ({"rows": 1, "columns": 2, "episodeSteps": 3}, (0, 1), Ending.FULL, (0, 0)),
    "inarow 1": ({"inarow": 1}, (3,), Ending.LINE, (1, -1)),
    "1x1": ({"rows": 1, "columns": 1}, (0,), Ending.FULL, (0, 0)),
    "1x1, inarow 1": ({"rows": 1, "columns": 1, "inarow": 1}, (0,), Ending.LINE, (1, -1)),
}


@pytest.mark.parametrize(("settings", "columns", "ending", "rewards"), ENDINGS.values(), ids=ENDINGS)
def test_games_end_by_the_rules(settings, columns, ending, rewards):
    record = judged(lambda: [answering(fail, columns[::2]), answering(fail, columns[1::2])], settings)
    assert record.ending is ending
    assert record.rewards == rewards
    assert record.statuses == ("DONE", "DONE")
    assert record.culprit is None
    assert record.moves == columns


@pytest.mark.parametrize("opening", [(3,), (3, 3), (0, 1, 0, 1, 0), (6, 6, 6, 6, 6, 6)])
def test_an_opening_is_an_environment_prepared_by_steps(opening):
    record = judged(lambda: [random_player(1), random_player(2)], None, opening)
    assert record.opening == opening
    assert record.moves[: len(opening)] == opening
    assert len(record.seconds) == len(record.moves) - len(opening)
    for play_game in (referee.play_game, kaggle.play_game):
        numpy_opening = play_game([moving, moving], None, np.array(opening))
        assert GameRecord.from_json(numpy_opening.to_json()).opening == opening


class Clock:
    """A perf_counter that moves only when an agent thinks."""

    def __init__(self, monkeypatch):
        self.now = 1000.0
        self.banks = []
        theirs = "kaggle_environments.agent", "kaggle_environments.core"
        for module in ("evaluation.calling", "evaluation.referee", *theirs):
            monkeypatch.setattr(f"{module}.perf_counter", lambda: self.now)

    def thinking(self, agent, seconds):
        """`agent` after it has thought for the first of `seconds`, the second ... and then no time at all.

        Notes the bank of time each call is shown.
        """
        times = chain(seconds, repeat(0.0))

        def slow(obs, config):
            self.now += next(times)
            self.banks.append(repr(obs.remainingOverageTime))
            return agent(obs, config)

        return slow


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def timed(clock, agents, settings=None):
    """The fast referee's record, after all three have told the same, times and banks of time included."""

    def play(play_game):
        clock.banks.clear()
        return play_game(agents(), settings), list(clock.banks)

    record, banks = play(referee.play_game)
    (env, error), banks_there = play(official)
    assert error is None
    assert banks == banks_there
    assert json.dumps(record.steps) == json.dumps(env.toJSON()["steps"])
    there, _ = play(kaggle.play_game)
    assert there.seconds == record.seconds
    assert without_times(there) == without_times(record)
    return record


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(
    ("seconds", "ending", "bank"),
    [
        ([2.0], Ending.LINE, 60),
        ([2.5], Ending.LINE, 59.5),
        ([62.0], Ending.LINE, 0.0),
        ([62.0, 2.0], Ending.LINE, 0.0),
        # Late by the exact time, though the rounded one takes nothing off the bank.
        ([62.0, 2.0000004], Ending.TIMEOUT, 0.0),
        ([62.0000004], Ending.TIMEOUT, 0.0),
        ([62.5], Ending.TIMEOUT, -0.5),
        ([22.0, 22.0, 22.0], Ending.LINE, 0.0),
        ([22.0, 22.0, 22.0, 3.0], Ending.TIMEOUT, -1.0),
    ],
)
def test_the_bank_of_time_is_kept_to_the_same_number(clock, seat, seconds, ending, bank):
    def agents():
        slow = clock.thinking(answering(fail, [0, 0, 0, 0]), seconds)
        return [slow, moving] if seat == 0 else [answering(fail, [1, 2, 4, 5]), slow]

    record = timed(clock, agents)
    assert record.ending is ending
    assert repr(record.steps[-1][seat]["observation"]["remainingOverageTime"]) == repr(bank)


@pytest.mark.parametrize("answer", [fail, lambda: "3", lambda: 99, lambda: 3.0, lambda: 0])
def test_too_slow_comes_before_everything_else_that_is_wrong(clock, answer):
    record = timed(clock, lambda: [clock.thinking(answering(answer), [63.0]), moving])
    assert record.ending is Ending.TIMEOUT
    assert record.rewards == (None, 0)
    assert record.statuses == ("TIMEOUT", "DONE")


def test_games_with_random_times_and_limits(clock):
    endings = []
    for number in range(20):
        rng = Random(number)
        seeds = [rng.random(), rng.random()]
        times = [[rng.choice([0.1, 2.0, 2.0000003, 3.123456789, 20.0]) for _ in range(21)] for _ in seeds]

        def agents(seeds=seeds, times=times):
            return [
                clock.thinking(random_player(*seat), time) for *seat, time in zip(seeds, times, strict=True)
            ]

        endings.append(timed(clock, agents, {"actTimeout": rng.choice([0, 0.5, 2]), "timeout": 0}).ending)
    assert {Ending.TIMEOUT, Ending.LINE} <= set(endings)


def test_a_run_that_takes_too_long_is_no_result(clock):
    def agents():
        return [clock.thinking(random_player(1), [4.0, 4.0, 4.0]), moving]

    env, error = official(agents(), {"runTimeout": 10})
    assert isinstance(error, deadline())
    assert len(env.steps) - 1 == 5
    for play_game in (referee.play_game, kaggle.play_game):
        with pytest.raises(InputError, match=r"runTimeout=10 was over after 5 moves: raise it, or lower"):
            play_game(agents(), {"runTimeout": 10})


@pytest.mark.parametrize("name", referee.SETTINGS)
@pytest.mark.parametrize("value", [0, -1, 1, 8, 0.5, 7.5, -0.5, True, False, None, "7", [], [7]])
def test_settings_are_accepted_and_ordered_as_by_kaggle(name, value):
    from kaggle_environments import make
    from kaggle_environments.errors import InvalidArgument

    try:
        expected = list(make("connectx", configuration={"extra": 1, name: value}).configuration.items())
    except InvalidArgument:
        with pytest.raises(
            InputError, match=rf"{name}=.* cannot be played: it must be a .*number of at least"
        ):
            referee.configuration(extra=1, **{name: value})
    else:
        assert list(referee.configuration(extra=1, **{name: value}).items()) == expected


@pytest.mark.parametrize("value", [7.0, np.int64(7), np.float64(7)])
def test_columns_that_kaggle_lets_in_or_numpy_makes_are_refused_at_once(value):
    with pytest.raises(InputError, match="must be a whole number of at least 1"):
        referee.configuration(columns=value)


@pytest.mark.parametrize(
    "change", ["s.a = 2", "s['a'] = 2", "s.new = 3", "s['new'] = 3", "del s['a']", "s.b.c = 9"]
)
def test_what_agents_get_behaves_like_kaggles_struct(change):
    from kaggle_environments.utils import structify

    def after(struct):
        exec(change, {"s": struct})
        names = [(name, hasattr(struct, name) and repr(getattr(struct, name))) for name in ("a", "b", "new")]
        return repr(struct), struct == dict(struct), names, deepcopy(struct) == struct, type(struct).__name__

    values = {"a": 1, "b": {"c": [1, {"d": 2}]}}
    assert after(referee.fresh(values)) == after(structify(values))
