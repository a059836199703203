"""Recorded games: what is read from everything that holds them, and that nothing else passes."""

import json
import random
import re
from contextlib import suppress
from copy import deepcopy
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.board import Board
from evaluation import play_match, referee
from evaluation.archive import Game, GameId
from evaluation.errors import InputError
from evaluation.explain import explanations
from evaluation.records import Ending, GameRecord
from evaluation.replays import RecordedGame, clean, read_recorded
from evaluation.tournament import play_tournament

EPISODES = Path(__file__).with_name("episodes")
NUMBERS = sorted(path.name.split("-")[1] for path in EPISODES.glob("*-replay.json"))
COMPARED = ("moves", "rewards", "statuses", "ending", "culprit", "refused", "configuration")


def replay(number):
    return json.loads((EPISODES / f"episode-{number}-replay.json").read_text())


def episode_of(record, info=None):
    """A record as `env.toJSON()` would give it."""
    return {
        "name": "connectx",
        "configuration": record.configuration,
        "steps": json.loads(json.dumps(record.steps)),
        "info": info or {},
    }


@pytest.fixture
def read(tmp_path):
    """Reads a value as JSON, or a text, from a file; complaints raise."""

    def read_one(value, name="game.json"):
        path = tmp_path / name
        text = value if isinstance(value, str) else json.dumps(value)
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        return list(read_recorded(path, pytest.fail))

    return read_one


def first_legal(obs, config):
    return obs.board[: config.columns].index(0)


def at(ply, answer):
    """An agent that answers `answer` from a ply on, and plays legally before."""

    def agent(obs, config):
        if obs.step < ply:
            return first_legal(obs, config)
        if isinstance(answer, type):
            raise answer("as agreed")
        return answer

    return agent


def random_legal(obs, config):
    return random.choice([column for column in range(config.columns) if not obs.board[column]])


CASES = {
    "win": (Ending.LINE, {}, first_legal),
    "tie": (Ending.FULL, {"rows": 3, "columns": 4, "inarow": 4}, first_legal),
    "one cell": (Ending.FULL, {"rows": 1, "columns": 1}, first_legal),
    "inarow 1": (Ending.LINE, {"inarow": 1}, first_legal),
    "episodeSteps": (Ending.STEPS, {"episodeSteps": 6}, first_legal),
    "too far": (Ending.INVALID, {}, at(4, 7)),
    "full": (Ending.INVALID, {"rows": 2}, at(0, 3)),
    "none when full": (Ending.INVALID, {"rows": 2, "columns": 20, "inarow": 9}, at(0, None)),
    "negative": (Ending.INVALID, {}, at(2, -1)),
    "text": (Ending.INVALID, {}, at(3, "3")),
    "fraction": (Ending.INVALID, {}, at(1, 3.5)),
    "9.0": (Ending.INVALID, {}, at(1, 9.0)),
    "raises": (Ending.ERROR, {}, at(5, ValueError)),
    "returns an exception": (Ending.ERROR, {}, at(0, KeyError())),
    "raises at once": (Ending.ERROR, {"rows": 4, "columns": 5, "inarow": 3}, at(0, OSError)),
    "late": (Ending.TIMEOUT, {}, at(2, None)),
}


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("case", CASES)
def test_an_episode_of_the_official_environment_is_the_referees_record(case, seat, read):
    from kaggle_environments import make
    from kaggle_environments.errors import DeadlineExceeded

    ending, changed, agent = CASES[case]
    if case == "late":
        agent = at(2, DeadlineExceeded())
    agents = [first_legal, agent] if seat else [agent, first_legal]
    expected = referee.play_game(agents, changed)
    assert expected.ending is ending
    env = make("connectx", changed)
    env.run(agents)
    [game] = read(env.toJSON())
    for name in COMPARED:
        assert getattr(game.record, name) == getattr(expected, name), name
    assert game.players == ("first player", "second player")
    assert (game.record.opening, game.record.seconds, game.record.stderr) == ((), (), "")
    assert len(game.overage) == len(expected.seconds)
    assert game.record.steps == env.toJSON()["steps"]
    assert read(env.render(mode="json")) == [game]
    [logged] = read({"environment": env.toJSON(), "logs": env.logs})
    assert len(logged.record.seconds) == len(expected.seconds)
    assert ("as agreed" in logged.record.stderr) is ("raises" in case)


def test_discs_set_up_before_the_game_are_told_by_the_logs_only(read):
    from kaggle_environments import make

    env = make("connectx")
    env.step([3, None])
    env.step([None, 3])
    env.step([2, None])
    env.run([random_legal, first_legal])
    moves = tuple(step[ply % 2]["action"] for ply, step in enumerate(env.toJSON()["steps"][1:]))
    [plain] = read(env.toJSON())
    [logged] = read({"environment": env.toJSON(), "logs": env.logs})
    assert (plain.record.opening, logged.record.opening) == ((), (3, 3, 2))
    assert plain.record.moves == logged.record.moves == moves
    assert len(logged.record.seconds) == len(logged.overage) == len(moves) - 3
    env.run([first_legal, first_legal])  # env.logs keeps the calls of the game before
    [again] = read({"environment": env.toJSON(), "logs": env.logs})
    assert again.record.opening == ()
    assert len(again.record.seconds) == len(again.record.moves)


@pytest.mark.parametrize("answer", [3.0, SystemExit, KeyboardInterrupt])
def test_a_run_that_broke_off_is_a_game_without_a_result(answer, read):
    from kaggle_environments import make

    env = make("connectx")
    with pytest.raises((TypeError, SystemExit, KeyboardInterrupt)):
        env.run([at(4, answer), first_legal])
    [game] = read({"environment": env.toJSON(), "logs": env.logs})
    record = game.record
    assert (record.ending, record.culprit, record.rewards) == (Ending.ABORTED, None, (None, None))
    assert record.moves == (0, 0, 0, 0)
    assert len(record.seconds) == 4


def test_overage_time_is_that_of_the_bank(read):
    record = referee.play_game([first_legal, first_legal], {"episodeSteps": 5})
    slow = GameRecord(**{**vars_of(record), "seconds": (0.1, 3.5, 2.0, 4.0)})
    [game] = read(episode_of(slow))
    assert game.overage == (0, 1.5, 0, 2.0)
    [own] = read(slow.to_json())
    assert own.overage == game.overage
    assert own.record == slow


def vars_of(record):
    return json.loads(record.to_json()) | {
        "opening": record.opening,
        "moves": record.moves,
        "rewards": record.rewards,
        "statuses": record.statuses,
        "ending": record.ending,
    }


@pytest.mark.parametrize("number", NUMBERS)
def test_a_downloaded_episode(number):
    source = replay(number)
    [game] = read_recorded(EPISODES / f"episode-{number}-replay.json")
    assert game.name == number
    assert game.players == tuple(source["info"]["TeamNames"])
    assert list(game.record.statuses) == source["statuses"]
    assert list(game.record.rewards) == source["rewards"]
    assert game.record.board.to_flat() == source["steps"][-1][0]["observation"]["board"]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda episode: [episode],
        lambda episode: {"result": episode},
        lambda episode: {"result": {"replay": json.dumps(episode)}},
        lambda episode: {"environment": episode},
        lambda episode: json.dumps(json.dumps(episode)),
        lambda episode: "\ufeff \n" + json.dumps(episode, indent=2),
        lambda episode: f"\n\n{json.dumps(episode)}\r\n\n",
    ],
)
def test_an_episode_may_be_wrapped(wrap, read):
    assert read(wrap(replay(NUMBERS[0]))) == read(replay(NUMBERS[0]))


def test_an_episode_of_2020(read):
    """Rewards from 0 to 1, boards for both seats, no bank of time, other settings."""
    episode = replay("70000004")
    for step in episode["steps"]:
        board = step[0]["observation"]["board"]
        for mark, state in enumerate(step, 1):
            state["observation"] = {"board": board, "mark": mark}
            state["reward"] = (state["reward"] + 1) / 2
    episode["configuration"] = {"columns": 7, "inarow": 4, "rows": 6, "steps": 1000, "timeout": 5}
    del episode["info"]
    [old], [new] = read(episode), read(replay("70000004"))
    assert old.overage == ()
    for name in COMPARED[:-1]:
        assert getattr(old.record, name) == getattr(new.record, name)


def test_several_games_in_one_file(read):
    records = [referee.play_game([random_legal, random_legal], {"rows": 4}) for _ in range(3)]
    lines = "\n".join(record.to_json() for record in records)
    assert [game.record for game in read(lines, "games.txt")] == records
    assert [game.name for game in read(lines, "games.txt")] == ["games-1", "games-2", "games-3"]
    episodes = [episode_of(record) for record in records]
    assert [game.record.moves for game in read(episodes)] == [record.moves for record in records]
    mixed = [episodes[0], records[1].to_json(), json.dumps([episodes[2]])]
    assert [game.record.moves for game in read(mixed)] == [record.moves for record in records]


def test_a_folder_of_replays(tmp_path):
    for number in NUMBERS:
        (tmp_path / f"{number}.json").write_text(json.dumps(replay(number)))
    (tmp_path / "notes.json").write_text("[]")
    complaints = []
    assert [game.name for game in read_recorded(tmp_path, complaints.append)] == NUMBERS
    assert len(complaints) == 1
    assert "notes.json: no game but an empty list" in complaints[0]


def test_a_tournament_is_read_from_its_folder_and_from_its_file(tmp_path):
    out = tmp_path / "out"
    play_tournament(["random_legal", "one_step"], games=4, out=out)
    games = list(read_recorded(out, pytest.fail))
    assert {game.name for game in games} == {f"0-1-{number}" for number in range(4)}
    assert all(set(game.players) == {"random_legal", "one_step"} for game in games)
    assert games[0].players != games[1].players
    assert list(read_recorded(out / "games.jsonl", pytest.fail)) == games
    (tmp_path / "kept.txt").write_text((out / "games.jsonl").read_text())
    assert list(read_recorded(tmp_path / "kept.txt", pytest.fail)) == games


def test_a_game_of_a_tournament_that_cannot_be_is_left_out_and_said(tmp_path):
    record = referee.play_game([first_legal, first_legal])
    good = Game(GameId(0, 1, 0), ("a", "b"), 0, record).to_json()
    bad = good.replace('"moves": [', '"moves": [6, ').replace("0-1-0", "0-1-1")
    (tmp_path / "games.jsonl").write_text(f"{good}\n{bad}\n{good[:50]}")
    complaints = []
    assert [game.record for game in read_recorded(tmp_path, complaints.append)] == [record]
    assert len(complaints) == 2
    assert "game 0-1-1: " in complaints[0]
    assert "it is left out" in complaints[0]
    assert "line 3 was cut off" in complaints[1]


def test_games_of_a_match_have_their_ends(read):
    for record in play_match("random_legal", "one_step", games=6).records.values():
        [game] = read(record.to_json())
        assert game.record == record


# What is refused


def broken(change):
    episode = replay("70000004")
    change(episode, episode["steps"])
    return episode


def set_board(episode, steps):
    steps[5][0]["observation"]["board"][0] = 1


def start_elsewhere(episode, steps):
    steps[0][0]["observation"]["board"][41] = 2


def other_action(episode, steps):
    steps[3][0]["action"] = 4


def text_action(episode, steps):
    steps[4][1]["action"] = "0"


def go_on(episode, steps):
    steps.append(deepcopy(steps[-1]))


def cut_short(episode, steps):
    steps[6:] = []
    for state in steps[-1]:
        state["status"] = "DONE"


def other_rewards(episode, steps):
    steps[-1][0]["reward"], steps[-1][1]["reward"] = -1, 1


def other_status(episode, steps):
    steps[-1][1]["status"] = "ACTIVE"


def refused_after_all(episode, steps):
    steps[-1][0]["status"] = "INVALID"


def one_seat(episode, steps):
    steps[7].pop()


def no_observation(episode, steps):
    del steps[2][0]["observation"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_board, "step 5: the board does not follow from the actions"),
        (start_elsewhere, "step 0: the episode does not start from the empty board"),
        (other_action, "step 3: the board does not follow"),
        (text_action, 'step 4: the action "0" is no column'),
        (go_on, "step 20: the game was over before (line)"),
        (cut_short, "step 5: the episode has ended, but by the rules it goes on"),
        (other_rewards, "step 19: the rewards are not those of the board"),
        (other_status, "step 19: the statuses are not those of a game that ended so (line)"),
        (refused_after_all, "step 19: the board does not follow from the actions"),
        (one_seat, "step 7: not the states of two seats"),
        (no_observation, "step 2: a seat without an observation"),
        (lambda episode, _: episode.update(name="halite"), 'an episode of "halite", not of connectx'),
        (lambda episode, _: episode.update(steps=[]), "the episode has no steps"),
        (lambda episode, _: episode.update(configuration=7), "the configuration is no object"),
        (lambda episode, _: episode["configuration"].update(rows=-1), "rows=-1 cannot be played"),
        (
            lambda episode, _: episode["configuration"].update(rows=10**9),
            "a board of 1000000000x7 is too large to be read",
        ),
    ],
)
def test_an_episode_that_cannot_be_is_refused_naming_the_step(change, message, read):
    with pytest.raises(InputError, match=re.escape(message)) as refused:
        read(broken(change))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"moves": [0, 0, 9]}, "step 3: column 10 does not exist"),
        ({"moves": [0, 0, True]}, "must be columns"),
        ({"moves": "000"}, "must be columns"),
        ({"opening": [5]}, "the opening those that come first"),
        ({"ending": "full"}, "the record says full, the moves say line"),
        ({"ending": "error"}, "the game ended by the rules (line), not by error"),
        ({"ending": "lost"}, "'lost' is not a valid Ending"),
        ({"rewards": [0, 0]}, "not those of the ending line"),
        ({"statuses": ["DONE", "\x1b[31m"]}, "not those of the ending line"),
        ({"culprit": 1}, "culprit must be None"),
        ({"seconds": [None] * 19}, "seconds must be 19 numbers"),
        ({"seconds": [0.1]}, "seconds must be 19 numbers, one for each call, or none"),
        ({"refused": [[]]}, "refused must be a number"),
        ({"configuration": {"columns": "7"}}, "columns='7' cannot be played"),
    ],
)
def test_a_record_that_cannot_be_is_refused(changed, message, read):
    fields = json.loads(referee.play_game([first_legal, first_legal]).to_json()) | changed
    with pytest.raises(InputError, match=re.escape(message)):
        read(fields)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty; what is read: a tournament's folder"),
        ("agent(obs)", "not JSON (Expecting value"),
        ("[" * 100_000, "nested too deeply"),
        ("[" * 500 + "]" * 500, "nested too deeply"),
        ('{"steps": ' + "9" * 5000 + "}", "not JSON (Exceeds the limit"),
        ("[]", "no game but an empty list"),
        ("{}", "no game but an empty object"),
        ("NaN", "no game but the value NaN"),
        ('{"\\u001b[2J": 1, "b": 2}', r"an object with the keys \x1b[2J, b"),
        (
            '[[{"duration": 1, "stdout": "", "stderr": ""}]]',
            "an object with the keys duration, stdout, stderr",
        ),
    ],
)
def test_what_is_no_game_is_refused_in_a_line(text, message, read):
    with pytest.raises(InputError, match=re.escape(message)) as refused:
        read(text)
    assert "game.json: " in str(refused.value)
    assert str(refused.value).isprintable()


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*none\.json: No such file"):
        list(read_recorded(tmp_path / "none.json"))
    with pytest.raises(InputError, match="holds no finished game; what is read"):
        list(read_recorded(tmp_path))


def test_names_and_texts_of_strangers_are_harmless(read):
    episode = replay("70000001")
    episode["info"] = {"EpisodeId": "\x1b]0;title\x07", "TeamNames": ["\x1b[31mred\u202e", "x" * 5000]}
    logs = [[], [{"duration": "long", "stdout": 3, "stderr": "\ud800 \x1b[2J"}, {}]]
    [game] = read({"environment": episode, "logs": logs})
    assert game.name == r"\x1b]0;title\x07"
    assert game.players == (r"\x1b[31mred\u202e", "x" * 80 + "…")
    assert game.record.seconds == (0,)
    game.record.stderr.encode()


def test_clean_keeps_what_can_be_printed():
    assert clean("Ärger 中文 🙂 a b") == "Ärger 中文 🙂 a b"
    assert clean("a\nb\x00\u200e") == r"a\nb\x00\u200e"


# Whatever a file holds

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
KEYS = st.sampled_from(
    [
        "steps",
        "moves",
        "ending",
        "configuration",
        "result",
        "environment",
        "logs",
        "name",
        "info",
        "id",
        "agents",
    ]
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)
SMALL = referee.play_game([first_legal, at(4, ValueError)], {"rows": 3, "columns": 3, "inarow": 3})
GAMES = [
    episode_of(SMALL, {"EpisodeId": 1, "TeamNames": ["a", "b"]}),
    json.loads(SMALL.to_json()),
    {
        "environment": episode_of(SMALL),
        "logs": [[], *([{"duration": 0.1, "stderr": "e"}, {}] for _ in range(5))],
    },
]


@st.composite
def spoiled(draw):
    """A game in which something somewhere is replaced, or left out."""
    game = deepcopy(draw(st.sampled_from(GAMES)))
    for _ in range(draw(st.integers(1, 3))):
        place, key = {"": game}, ""
        while isinstance(place[key], (dict, list)) and place[key] and (key == "" or draw(st.integers(0, 3))):
            place = place[key]
            key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if draw(st.booleans()) or key == "":
            place[key] = draw(JSON)
            game = place[""] if key == "" else game
        else:
            del place[key]
        if not isinstance(game, dict) or not game:
            break
    return game


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(value=JSON | spoiled())
def test_any_json_is_a_game_or_refused(value, tmp_path):
    path = tmp_path / "any.json"
    path.write_text(json.dumps(value))
    with suppress(InputError):
        assert all(found.happened.isprintable() for found in explanations([path]))
    try:
        games = list(read_recorded(path))
    except InputError as error:
        refusal = str(error)
        games = []
    else:
        refusal = ""
    assert refusal.removeprefix(str(path)).isprintable()
    assert bool(games) is not bool(refusal)
    for game in games:
        assert isinstance(game, RecordedGame)
        config = game.record.configuration
        board = Board.from_moves(game.record.moves, config["rows"], config["columns"], config["inarow"])
        assert len(game.record.steps) >= board.ply + 1
        assert "".join((*game.players, game.name)).isprintable()
        assert 0 <= game.record.points(0) + game.record.points(1) <= 2
        json.dumps(game.record.steps)
        assert list(read_recorded(path)) == games or "NaN" in path.read_text()
