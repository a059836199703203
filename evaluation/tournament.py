"""Tournaments: agents play each other in reversed pairs of games; what is played is kept in a folder.

The folder DIR holds two files, which `evaluation.archive` reads and writes.

`tournament.json`, one object, the settings:
    agents          the specs, in the order given; games name them by their index, from 0
    versions        for each agent a digest of its own file, null where it has none
    games           how many each two that meet play
    gauntlet        true where only the first agent meets the others
    sprt            null, or the two scores of `--sprt`
    seed, referee   as in a match
    trusted         whether agents given as files were not isolated; they draw other random numbers then
    configuration   all of Kaggle's settings
    opening_plies   discs on the board after an opening
    openings        "balanced", or why they are not
    anchor          the agent rated 0

`games.jsonl`, one object a line, a finished game each, in the order in which they ended:
    id              "I-J-N": agent I against agent J, I < J, game N; all from 0. I moves first where N is
                    even. Games 2K and 2K + 1 are a pair, from one opening
    agents          the names by seat: who moves first, who second
    seed            of the global random generators when the game began
    imbalance       the exact score of its opening without the sign, 0 for a draw; null where not known
    configuration, opening, moves, rewards, statuses, ending, culprit, refused, seconds, stderr
                    as in `evaluation.records.GameRecord`; culprit is a seat, 0 or 1

`analysis.jsonl` joins them once games are compared with perfect play: exact scores (`evaluation.analysis`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from evaluation import console
from evaluation.archive import Archive, Game, GameId, read_games, read_settings
from evaluation.errors import InputError
from evaluation.isolation import AVAILABLE, needs_isolation
from evaluation.loading import Agent, agent_name, is_file, known_agents, module_path, parse_spec
from evaluation.openings import BALANCED_PLIES, balance, tournament_openings
from evaluation.records import Ending, GameRecord
from evaluation.referee import complete
from evaluation.standings import TournamentResult
from evaluation.workers import (
    REFEREES,
    Outcome,
    Player,
    Task,
    WorkerError,
    check_agents,
    check_numbers,
    generators_kept,
    isolation_told,
    play_all,
    seed_of,
    workers,
)

BATCH_BEFORE_VERDICT = 8
"""Games sent at once at most where a test may end a meeting: those under way then were played for nothing."""


class TournamentInterrupted(KeyboardInterrupt):
    """Ctrl-C during a tournament. `result` holds the games that were over by then."""

    def __init__(self, result: TournamentResult, folder: Path) -> None:
        super().__init__(f"stopped after {result.games} games; all are kept in {folder}")
        self.result = result


def play_tournament(
    agents: Sequence[str | Agent],
    *,
    games: int = 100,
    out: str | Path,
    jobs: int = 1,
    cluster: str | None = None,
    gauntlet: bool = False,
    sprt: tuple[float, float] | None = None,
    anchor: str | Agent | None = None,
    seed: int = 0,
    referee: str = "fast",
    configuration: Mapping[str, Any] | None = None,
    opening_plies: int = BALANCED_PLIES,
    trusted: bool = False,
    tell: Callable[[str], None] | None = None,
    on_game: Callable[[TournamentResult, bool], None] | None = None,
    on_opening: Callable[[int | None], None] | None = None,
) -> TournamentResult:
    """Every two agents play `games` games, or the first one against each other (`gauntlet`).

    Games are played in pairs with the seats swapped, each pair from an opening of its own. They follow
    from `seed` and their ids alone (see `play_match`), whatever `jobs` and `cluster` are. Each is written
    to the folder `out` as it ends; called again with the same settings, a tournament goes on.

    Args:
        jobs: how many processes play; 1 is this one.
        cluster: the address of a dask scheduler whose workers play instead.
        sprt: two expected scores of the first-named agent of every meeting. It ends as soon as a
            sequential test accepts one of them (`evaluation.stats.Sprt`), after `games` games at the latest.
        anchor: the agent whose rating is 0; the first if not given.
        trusted: run agents given as files unisolated, as in a match.
        tell: called with what is to be said in between, a line each; by default to standard error.
        on_game: called with the standings and False before the first game, and with True after each.
        on_opening: called with the number of an opening before it is looked for, which takes long where it
            has to be solved, and with None when it is found.

    Raises:
        InputError: for what cannot be played, and for a folder that holds another tournament.
        TournamentInterrupted: on Ctrl-C.
    """
    check_numbers(games=(games, 1), jobs=(jobs, 1), opening_plies=(opening_plies, 0))
    if referee not in REFEREES:
        raise InputError(f"there is no referee {referee!r}: choose fast or kaggle")
    names, board = _names(agents), complete(configuration)
    settings = {
        "agents": names,
        "versions": [_version(agent) for agent in agents],
        "games": games,
        "gauntlet": gauntlet,
        "sprt": _scores(sprt),
        "seed": seed,
        "referee": referee,
        "configuration": board,
        "trusted": any(map(needs_isolation, agents)) and (trusted or not AVAILABLE),
        "opening_plies": opening_plies,
        "openings": balance(board, opening_plies),
        "anchor": _anchor(names, anchor),
    }
    folder, tell = Path(out), tell or console.messages.print
    result = TournamentResult(settings)
    with generators_kept():
        check_agents(agents, jobs, cluster)
        if not cluster:
            isolation_told(agents, trusted, tell)
    tell_of_machines = tell if cluster else lambda _: None
    archive = Archive(folder, settings)
    try:
        for game in archive.games(tell):
            result.add(game)
        if on_game:
            on_game(result, False)
        player = Player(referee, result.settings["configuration"], trusted)
        tasks = _tasks(result, dict(zip(names, agents, strict=True)), on_opening or (lambda _: None))
        with generators_kept(), workers(jobs, cluster) as place:
            if sprt:
                place.largest_batch = min(place.largest_batch, BATCH_BEFORE_VERDICT)
            for task, outcome in play_all(player, tasks, place, tell_of_machines):
                game = _game(task, outcome, settings, names)
                archive.add(game)
                result.add(game)
                if on_game:
                    on_game(result, True)
    except KeyboardInterrupt:
        raise TournamentInterrupted(result, folder) from None
    except WorkerError as error:
        raise WorkerError(
            f"{error}; {result.games} games are kept in {folder}: the same call goes on"
        ) from None
    finally:
        archive.close()
    return result


def read_tournament(folder: str | Path, tell: Callable[[str], None] = lambda _: None) -> TournamentResult:
    """The standings of the tournament in a folder, over or not. Raises `InputError`."""
    result = TournamentResult(read_settings(Path(folder)))
    for game in read_games(Path(folder), tell):
        result.add(game)
    return result


def _tasks(
    result: TournamentResult, agents: Mapping[str, str | Agent], on_opening: Callable[[int | None], None]
) -> Iterator[Task]:
    """The games still to be played: the first pair of every two agents that meet, the second pair, ..."""
    settings = result.settings
    games, seed = settings["games"], settings["seed"]
    openings = tournament_openings(settings["configuration"], seed, settings["opening_plies"])
    for first in range(0, games, 2):
        on_opening(first // 2)
        opening, imbalance = next(openings)
        on_opening(None)
        for (one, two), meeting in result.meetings.items():
            for number in range(first, min(first + 2, games)):
                id = GameId(one, two, number)
                if not meeting.decided and not meeting.has(number):
                    seats = [agents[result.names[agent]] for agent in id.seats]
                    yield Task((id, imbalance), (seats[0], seats[1]), seed_of(seed, id), opening)


def _game(task: Task, outcome: Outcome, settings: Mapping[str, Any], names: Sequence[str]) -> Game:
    """The game that a task came to."""
    if isinstance(outcome, InputError):
        outcome = GameRecord(
            configuration=settings["configuration"],
            opening=task.opening,
            moves=task.opening,
            rewards=(None, None),
            statuses=("ERROR", "ERROR"),
            ending=Ending.ABORTED,
            stderr=str(outcome),
        )
    id, imbalance = task.key
    first, second = (names[agent] for agent in id.seats)
    return Game(id, (first, second), task.seed, outcome, imbalance)


def _names(agents: Sequence[str | Agent]) -> list[str]:
    names = [agent_name(agent) for agent in agents]
    if len(names) < 2:
        raise InputError(f"a tournament needs two agents or more, not {len(names)}")
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{name} is named twice: an agent plays in a tournament once")
    return names


def _scores(sprt: tuple[float, float] | None) -> list[float] | None:
    if sprt is None:
        return None
    low, high = sprt
    if not 0 < low < high < 1:
        raise InputError(f"sprt {low:g} {high:g}: give two scores between 0 and 1, the lower one first")
    return [low, high]


def _anchor(names: Sequence[str], anchor: str | Agent | None) -> str:
    name = names[0] if anchor is None else agent_name(anchor)
    if name not in names:
        raise InputError(f"the anchor {name} does not play: choose one of {', '.join(names)}")
    return name


def _version(agent: str | Agent) -> str | None:
    """A digest of the agent's own file; None where it has none."""
    if not isinstance(agent, str):
        return None
    target, _ = parse_spec(agent)
    path = Path(target) if is_file(target) else module_path(target) if target in known_agents() else None
    if path is None or not path.is_file():
        return None
    return blake2b(path.read_bytes(), digest_size=8).hexdigest()
