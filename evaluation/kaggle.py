"""The official referee, Kaggle's replays and Kaggle's own agents.

The only module that imports kaggle_environments, and only where it is needed: that takes seconds.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from functools import lru_cache
from importlib.metadata import distribution
from operator import index
from pathlib import Path
from typing import Any

from evaluation.errors import InputError
from evaluation.records import STDERR_LIMIT, Ending, GameRecord, outcome
from evaluation.referee import Agent, AgentLostError, complete, run_timeout, start_position


def play_game(
    agents: Sequence[Agent], configuration: Mapping[str, Any] | None = None, opening: Sequence[int] = ()
) -> GameRecord:
    """`evaluation.referee.play_game` in Kaggle's own environment: the same arguments, errors and record.

    Only the times differ, and the frames of tracebacks in `stderr`.
    """
    settings, opening = complete(configuration), tuple(map(index, opening))
    start_position(settings, opening)
    env = _environment(settings)
    for ply, column in enumerate(opening):
        env.step([None, column] if ply % 2 else [column, None])
    crash = None
    try:
        env.run(list(agents))
    except _kaggle().errors.DeadlineExceeded:  # the run's own: an agent's is caught in it
        raise run_timeout(settings, len(env.steps) - 1) from None
    except KeyboardInterrupt:
        raise
    except AgentLostError as lost:
        crash = lost
    except BaseException:
        crash = AgentLostError(Ending.CRASH, (), traceback.format_exc())
    return _record(env, settings, opening, crash)


def _record(
    env: Any, settings: dict[str, Any], opening: tuple[int, ...], crash: AgentLostError | None
) -> GameRecord:
    """What the environment holds after a run; `crash` is what broke it off, if anything."""
    steps = env.toJSON()["steps"]
    actions = [step[ply % 2]["action"] for ply, step in enumerate(steps[1:])]
    last, refused, culprit = steps[-1], None, None
    rewards = (last[0]["reward"], last[1]["reward"])
    statuses = (last[0]["status"], last[1]["status"])
    if crash:
        ending, culprit = crash.ending, len(actions) % 2
        rewards, statuses = outcome(ending, culprit)
    elif None in rewards:
        culprit = rewards.index(None)
        ending, refused = Ending[statuses[culprit]], actions.pop()
    elif 1 in rewards:
        ending = Ending.LINE
    else:
        ending = Ending.FULL if all(last[0]["observation"]["board"]) else Ending.STEPS
    logs = [log for turn in env.logs for log in turn if log]
    record = GameRecord(
        configuration=settings,
        opening=opening,
        moves=tuple(map(index, actions)),
        rewards=rewards,
        statuses=statuses,
        ending=ending,
        culprit=culprit,
        refused=refused,
        seconds=(*(log["duration"] for log in logs), *(crash.seconds if crash else ())),
        stderr=("".join(log["stderr"] for log in logs) + (crash.text if crash else ""))[-STDERR_LIMIT:],
    )
    if not (crash and crash.seconds):
        vars(record)["steps"] = steps  # the environment's own, in place of those that would be worked out
    return record


def render_html(record: GameRecord) -> str:
    """Kaggle's player with the game in it: one HTML page of about 600 kB, for records of either referee.

    It needs no internet, except for the symbols on its buttons.
    """
    env = _environment(record.configuration)
    env.steps = _kaggle().utils.structify(record.steps)
    env.state = env.steps[-1]
    return str(env.render(mode="html", playing=True, controls=True))


def show_playable(agents: Sequence[Agent | None], configuration: Mapping[str, Any] | None = None) -> None:
    """Shows Kaggle's board in a notebook by `env.play`; None stands for the person who is to click on it.

    As of version 1.33.2 it is a picture: Kaggle's new connectx board takes no clicks, and what its page
    would run in the kernel imports a name that the package no longer offers.
    """
    _environment(complete(configuration)).play(list(agents), width=500, height=450)


def builtin_agent(name: str) -> Agent:
    """Kaggle's own agent `name`: random or negamax. Raises `InputError` for any other name."""
    agents = _builtin_agents()
    if name not in agents:
        raise InputError(f"Kaggle has no agent {name!r}: it has {', '.join(sorted(agents))}")
    return agents[name]


@lru_cache(maxsize=1)
def _builtin_agents() -> dict[str, Agent]:
    """The agents of the connectx rules, run from their file: the whole package would take seconds."""
    file = distribution("kaggle-environments").locate_file("kaggle_environments/envs/connectx/connectx.py")
    rules: dict[str, Any] = {"__name__": "kaggle_connectx", "__file__": str(file)}
    exec(compile(Path(str(file)).read_text(encoding="utf-8"), str(file), "exec"), rules)
    return dict(rules["agents"])


def _environment(settings: Mapping[str, Any]) -> Any:
    return _kaggle().make("connectx", configuration=dict(settings))


def _kaggle() -> Any:
    """The package. What it prints when one of its other games cannot be loaded goes to stderr."""
    with redirect_stdout(sys.stderr):
        import kaggle_environments
    return kaggle_environments
