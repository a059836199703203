"""Matches: what is played, what is counted, and that results follow from the seed alone."""

import json
import multiprocessing
import random
from dataclasses import replace

import numpy as np
import pytest

from evaluation import MatchInterrupted, get_win_percentages, play_match
from evaluation.errors import InputError
from evaluation.loading import SpecError
from evaluation.match import WorkerError, game_seed
from evaluation.records import Ending, GameRecord
from evaluation.referee import configuration
from evaluation.result import MatchResult
from evaluation.stats import score_interval

# Agents as files, so that they are fresh in every game and other processes find them.
SOURCES = {
    "leftmost": "def agent(obs, config):\n    return obs.board[: config.columns].index(0)\n",
    "rightmost": (
        "def agent(obs, config):\n"
        "    return max(column for column in range(config.columns) if obs.board[column] == 0)\n"
    ),
    "dice": (  # draws from both generators that matches seed
        "import random\n"
        "import numpy as np\n"
        "def agent(obs, config):\n"
        "    legal = [column for column in range(config.columns) if obs.board[column] == 0]\n"
        "    random.shuffle(legal)\n"
        "    return legal[np.random.randint(len(legal))]\n"
    ),
    "invalid": "def agent(obs, config):\n    return config.columns\n",
    "error": "def agent(obs, config):\n    return 1 // 0\n",
    "timeout": (
        "from kaggle_environments.errors import DeadlineExceeded\n"
        "def agent(obs, config):\n    return DeadlineExceeded()\n"
    ),
    "crash": "def agent(obs, config):\n    return 3.0\n",
    "killer": "import os\ndef agent(obs, config):\n    os._exit(1)\n",
}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """The spec of one of SOURCES."""
    folder = tmp_path_factory.mktemp("agents")
    for name, source in SOURCES.items():
        (folder / f"{name}.py").write_text(source)
    return lambda name: str(folder / f"{name}.py")


def leftmost(obs, config):
    return obs.board[: config.columns].index(0)


def full_column(obs, config):
    """Plays column 1 until it is full, and then once too often."""
    return 0


def record(moves, rewards, ending=Ending.LINE, culprit=None):
    return GameRecord(configuration(), (), moves, rewards, ("DONE", "DONE"), ending, culprit)


def facts(result):
    """What does not depend on clocks."""
    return [
        (number, record.opening, record.moves, record.ending, record.culprit, record.rewards, record.stderr)
        for number, record in result.records.items()
    ]


def test_seats_are_swapped_in_pairs_from_the_same_opening(file):
    result = play_match(file("leftmost"), file("rightmost"), games=40)
    records = result.records
    assert list(records) == list(range(40))
    assert records[0].opening == records[1].opening == ()
    openings = [records[number].opening for number in range(40)]
    assert openings[::2] == openings[1::2]
    assert len(set(openings)) == result.distinct_openings == 20
    # From the empty board whoever moves first tells who sits where.
    assert [records[number].moves[0] for number in (0, 1)] == [0, 6]


def test_deterministic_agents_play_distinct_games(file):
    assert play_match(file("leftmost"), file("rightmost"), games=100).distinct_games == 100


def test_replays_are_told_and_count_once(file):
    result = play_match(file("leftmost"), file("rightmost"), games=20, opening_plies=0)
    pair = (result.records[0].points(0) + result.records[1].points(1)) / 2
    assert (result.distinct_games, result.distinct_openings) == (2, 1)
    assert result.interval == score_interval([pair])
    assert "2 (18 replayed)" in str(result)


def test_the_same_seed_plays_the_same_games_and_another_others(file):
    first = play_match(file("dice"), "random_legal", games=12, seed=4)
    assert facts(play_match(file("dice"), "random_legal", games=12, seed=4)) == facts(first)
    other = play_match(file("dice"), "random_legal", games=12, seed=5)
    assert not {record.moves for record in other.records.values()} & {r.moves for r in first.records.values()}


def test_a_longer_match_begins_like_a_shorter_one(file):
    short = play_match(file("dice"), "random_legal", games=5)
    assert facts(play_match(file("dice"), "random_legal", games=8))[:5] == facts(short)


@pytest.mark.parametrize("games", [7, 8])
def test_results_do_not_depend_on_jobs(file, games):
    alone = play_match(file("dice"), file("error"), games=games, seed=2)
    many = play_match(file("dice"), file("error"), games=games, seed=2, jobs=2)
    assert facts(many) == facts(alone)
    told = [json.loads(result.to_json()) for result in (alone, many)]
    assert [len(answer.pop("seconds")) for answer in told] == [2, 2]
    assert told[0] == told[1]


def test_both_referees_play_the_same_games(file):
    pytest.importorskip("kaggle_environments")
    fast = play_match(file("dice"), "random_legal", games=4, seed=3)
    official = play_match(file("dice"), "random_legal", games=4, seed=3, referee="kaggle")
    assert facts(official) == facts(fast)
    assert official.referee == "kaggle"
    assert not any("steps" in vars(record) for record in official.records.values())  # memory


def test_random_generators_are_put_back(file):
    def state():
        return random.getstate(), str(np.random.get_state())

    before = state()
    play_match(file("dice"), "random_legal", games=2)
    assert state() == before
    with pytest.raises(RuntimeError):
        play_match(file("dice"), "random_legal", games=2, on_game=stop_with(RuntimeError))
    assert state() == before


def test_an_error_outside_the_games_ends_the_processes(file):
    with pytest.raises(RuntimeError):
        play_match(file("dice"), "random_legal", games=50, jobs=2, on_game=stop_with(RuntimeError))
    assert multiprocessing.active_children() == []


def stop_with(error):
    def on_game(number, record):
        if number == 1:
            raise error

    return on_game


def test_seeds_of_games_are_distinct_and_stay_what_they_are():
    assert (game_seed(0, 0), game_seed(1, 7)) == (0xA3DBE6B386261F66, 0xA7EE51035CCB283C)
    seeds = {game_seed(seed, number) for seed in range(20) for number in range(500)}
    assert len(seeds) == 10_000
    assert game_seed(1, 11) != game_seed(11, 1) != game_seed(111, 0)


def test_a_file_agent_is_fresh_in_every_game(tmp_path):
    path = tmp_path / "first_only.py"
    path.write_text(
        "games = []\n"
        "def agent(obs, config):\n"
        "    if obs.step < 2:\n        games.append(1)\n"
        "    assert len(games) < 2\n"
        "    return obs.board[: config.columns].index(0)\n"
    )
    result = play_match(str(path), str(path), games=6, opening_plies=0)
    assert not result.forfeits[0] + result.forfeits[1]


@pytest.mark.parametrize("how", ["invalid", "error", "timeout", "crash"])
@pytest.mark.parametrize("culprit", [0, 1])
def test_a_forfeit_is_the_culprits_loss_in_both_seats(file, how, culprit):
    if how == "timeout":
        pytest.importorskip("kaggle_environments")
    specs = ["random_legal", "random_legal"]
    specs[culprit] = file(how)
    result = play_match(*specs, games=6)
    assert [(tally.wins, tally.draws, tally.losses) for tally in result.by_seat] == (
        [(0, 0, 3), (0, 0, 3)] if culprit == 0 else [(3, 0, 0), (3, 0, 0)]
    )
    assert result.total == ((0, 0, 6) if culprit == 0 else (6, 0, 0))
    assert result.score == culprit
    assert result.forfeits[culprit] == {Ending(how): 6}
    assert result.forfeits[1 - culprit] == {}
    assert result.endings == {Ending(how): 6}
    assert f"{how} 6" in str(result)


def test_the_first_error_is_told(file):
    assert "error 4 (game 1: ZeroDivisionError: integer division or modulo by zero)" in str(
        play_match("random_legal", file("error"), games=4)
    )


def test_wins_draws_and_losses_by_seat():
    # On one column of four cells: a draw with inarow 4; with inarow 1 the first move wins.
    drawn = play_match("random_legal", leftmost, games=3, configuration={"columns": 1, "rows": 4})
    assert (drawn.wins, drawn.draws, drawn.losses, drawn.score) == (0, 3, 0, 0.5)
    assert drawn.endings == {Ending.FULL: 3}
    won = play_match("random_legal", leftmost, games=5, configuration={"inarow": 1})
    assert (won.by_seat[0], won.by_seat[1]) == ((3, 0, 0), (0, 0, 2))
    assert (won.wins, won.draws, won.losses, won.score) == (3, 0, 2, 0.6)


@pytest.mark.parametrize(
    "settings", [{"rows": 1, "columns": 1}, {"rows": 2, "columns": 2}, {"episodeSteps": 2}]
)
def test_boards_with_few_openings_reuse_them(settings):
    result = play_match(leftmost, leftmost, games=31, configuration=settings)
    assert len(result.records) == 31
    assert result.distinct_openings < 16
    assert f"{31 - result.distinct_games} replayed" in str(result)


def test_one_game_is_a_match():
    result = play_match(leftmost, "random_legal", games=1)
    assert result.total.wins + result.draws + result.losses == 1
    assert result.interval == score_interval([], [result.score])
    assert result.by_seat[1] == (0, 0, 0)
    assert "moving second" in str(result)


def test_times_are_of_the_agent_that_moved():
    def timed(opening, seconds):
        return replace(record((3,) * 4, (1, -1)), opening=opening, seconds=seconds)

    # The first agent's calls take 1, 2 and 3 seconds, in either seat and after either parity of openings.
    games = {0: timed((3,), (50.0, 1.0, 60.0)), 1: timed((), (70.0, 2.0, 80.0, 3.0))}
    one, two = MatchResult(("a", "b"), 0, "fast", configuration(), games).times
    assert one == (3, 2.0, 3.0)
    assert two == (4, 65.0, 80.0)
    assert MatchResult(("a", "b"), 0, "fast", configuration(), {}).times == ((0, 0.0, 0.0), (0, 0.0, 0.0))


def test_every_game_is_told_as_it_ends(file):
    for jobs in (1, 2):
        told = {}
        result = play_match(file("dice"), "random_legal", games=5, jobs=jobs, on_game=told.__setitem__)
        assert sorted(told) == [0, 1, 2, 3, 4]
        assert [told[number].moves for number in range(5)] == [r.moves for r in result.records.values()]


def test_ctrl_c_keeps_the_games_so_far():
    with pytest.raises(MatchInterrupted) as stop:
        play_match(leftmost, leftmost, games=9, on_game=stop_with(KeyboardInterrupt))
    assert list(stop.value.result.records) == [0, 1]
    assert isinstance(stop.value, KeyboardInterrupt)


def test_ctrl_c_before_the_first_game_ends():
    def interrupted(obs, config):
        raise KeyboardInterrupt

    with pytest.raises(MatchInterrupted) as stop:
        play_match(interrupted, leftmost, games=9)
    assert stop.value.result.records == {}
    assert repr(stop.value.result) == "<MatchResult interrupted against leftmost: nothing of 0 games>"
    assert json.loads(stop.value.result.to_json())["score"] is None
    assert "0.0 % to 100.0 %" in str(stop.value.result)


def test_an_agent_that_kills_its_process_is_told(file):
    with pytest.raises(WorkerError, match="a process that played games has ended"):
        play_match(file("killer"), "random_legal", games=4, jobs=2, trusted=True)
    isolated = play_match(file("killer"), "random_legal", games=4, jobs=2)
    assert isolated.forfeits == ({Ending.EXIT: 4}, {})
    assert "exit 4 (game 1: the agent's process: it has ended with exit status 1)" in str(isolated)


def test_a_callable_that_no_other_process_finds_is_refused():
    with pytest.raises(InputError, match=r"<lambda> cannot be sent to other processes: put it into a file"):
        play_match(lambda *_: 0, "random_legal", games=4, jobs=2)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"games": 0}, "games must be at least 1, not 0"),
        ({"jobs": 0}, "jobs must be at least 1, not 0"),
        ({"opening_plies": -1}, "opening_plies must be at least 0, not -1"),
        ({"referee": "slow"}, "there is no referee 'slow': choose fast or kaggle"),
        ({"configuration": {"rows": 0}}, "rows=0"),
    ],
)
def test_what_cannot_be_played_is_refused(settings, complaint):
    with pytest.raises(InputError) as error:
        play_match(leftmost, leftmost, **settings)
    assert complaint in str(error.value)


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_unknown_agent_is_refused_before_any_game(jobs):
    told = []
    with pytest.raises(SpecError, match="nobody"):
        play_match("random_legal", "nobody", jobs=jobs, on_game=lambda *game: told.append(game))
    assert told == []


RESULT = MatchResult(
    ("<a>", "b"),
    7,
    "fast",
    configuration(),
    {
        0: record((3, 0), (1, -1)),
        1: record((3, 1), (1, -1)),
        2: record((2, 0), (0, None), Ending.ERROR, 1),
        3: record((2, 1), (0, 0), Ending.FULL),
        4: record((1,), (-1, 1)),
    },
)


def test_a_result_counts_from_the_first_agents_side():
    assert RESULT.by_seat == ((2, 0, 1), (0, 1, 1))
    assert (RESULT.wins, RESULT.draws, RESULT.losses, RESULT.score) == (2, 1, 2, 0.5)
    assert RESULT.interval == score_interval([0.5, 0.75], [0.0])
    assert RESULT.forfeits == ({}, {Ending.ERROR: 1})
    assert RESULT.endings == {Ending.LINE: 3, Ending.ERROR: 1, Ending.FULL: 1}
    assert RESULT.distinct_games == 5


def test_a_result_as_text():
    assert repr(RESULT) == "<MatchResult <a> against b: 50.0 % of 5 games>"
    assert str(RESULT).splitlines() == [
        "<a> against b",
        "",
        "                 wins  draws  losses   score",
        "  moving first      2      0       1  66.7 %",
        "  moving second     0      1       1  25.0 %",
        "  all games         2      1       2  50.0 %",
        "",
        "  95 % interval   17.0 % to 83.0 %",
        "  games ended by  line 3, error 1, full 1",
        "  forfeits        b: error 1 (game 3: nothing on standard error)",
        "  distinct games  5",
        "  openings        1",
        "  ms a move       <a>: 0, longest 0",
        "  ms a move       b: 0, longest 0",
        "  played with     fast referee, seed 7, 6x7 board, inarow 4",
    ]


def test_a_result_in_a_notebook():
    html = RESULT._repr_html_()
    assert "&lt;a&gt; against b" in html
    assert "<a>" not in html
    assert "<td>all games</td><td>2</td><td>1</td><td>2</td><td>50.0 %</td>" in html


def test_a_result_as_json():
    answer = json.loads(RESULT.to_json())
    assert answer["agents"] == ["<a>", "b"]
    assert answer["as_first"] == {"wins": 2, "draws": 0, "losses": 1}
    assert answer["forfeits"] == [{}, {"error": 1}]
    assert (answer["games"], answer["wins"], answer["score"]) == (5, 2, 0.5)
    assert answer["configuration"]["rows"] == 6


def test_an_agent_against_itself_is_told_apart():
    assert "leftmost (2): 0" in str(play_match(leftmost, leftmost, games=2))


def test_settings_that_differ_are_told():
    text = str(play_match(leftmost, leftmost, games=2, configuration={"rows": 5, "actTimeout": 1, "x": 3}))
    assert "5x7 board, inarow 4, actTimeout 1, x 3" in text


def printed(capsys, *arguments, **options):
    result = get_win_percentages(*arguments, **options)
    return capsys.readouterr().out.splitlines(), result


def test_win_percentages_in_the_lessons_words(capsys):
    lines, result = printed(capsys, leftmost, leftmost, n_rounds=10)
    assert lines == [
        "Agent 1 Win Percentage: 0.5",
        "Agent 2 Win Percentage: 0.5",
        "Number of Invalid Plays by Agent 1: 0",
        "Number of Invalid Plays by Agent 2: 0",
    ]
    assert {record.opening for record in result.records.values()} == {()}
    assert result._ipython_display_() is None
    assert isinstance(result, MatchResult)


def test_a_forfeit_is_a_win_for_the_other(capsys, file):
    lines, _ = printed(capsys, file("invalid"), leftmost, n_rounds=4)
    assert lines == [
        "Agent 1 Win Percentage: 0.0",
        "Agent 2 Win Percentage: 1.0",
        "Number of Invalid Plays by Agent 1: 4",
        "Number of Invalid Plays by Agent 2: 0",
    ]


def test_errors_are_no_invalid_plays(capsys, file):
    lines, _ = printed(capsys, leftmost, file("error"), n_rounds=4)
    assert lines == [
        "Agent 1 Win Percentage: 1.0",
        "Agent 2 Win Percentage: 0.0",
        "Number of Invalid Plays by Agent 1: 0",
        "Number of Invalid Plays by Agent 2: 0",
        "Number of Errors and Timeouts by Agent 2: 4",
    ]


def test_an_odd_number_of_rounds(capsys):
    lines, result = printed(capsys, leftmost, leftmost, n_rounds=3)
    assert lines[:2] == ["Agent 1 Win Percentage: 0.67", "Agent 2 Win Percentage: 0.33"]
    assert len(result.records) == 3


def test_a_single_round(capsys):
    lines, _ = printed(capsys, "random_legal", full_column, n_rounds=1)
    assert len(lines) == 4
    assert {line[-3:] for line in lines[:2]} <= {"0.0", "1.0"}


def test_default_is_a_hundred_rounds():
    assert len(get_win_percentages(leftmost, full_column).records) == 100
