"""What is embedded in a page equals the records it was made of."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.board import Board
from engine.native.solver import fits
from evaluation.analysis import PHASES, Analyst, Tally, analyse
from evaluation.archive import read_games
from evaluation.errors import InputError
from evaluation.records import Ending
from evaluation.referee import configuration, play_game
from evaluation.replays import RecordedGame
from evaluation.report import gather, page_path, render, write_page
from evaluation.report.facts import DIGITS, FULL_COLUMN, NOT_SOLVED, ZERO, Facts, move_text, score_text


def moves_of(entry, data):
    return [ord(letter) - ord(data["firstColumn"]) for letter in entry["moves"]]


def scores_of(entry, data, columns):
    text, digits = entry["scores"], data["digits"]
    zero = len(digits) // 2
    positions = [text[start : start + columns] for start in range(0, len(text), columns)]
    return [
        None
        if data["notSolved"] in position
        else tuple(None if c == data["fullColumn"] else digits.index(c) - zero for c in position)
        for position in positions
    ]


def test_every_game_of_a_tournament_is_in_the_page(tournament, make):
    data = make.data(render(gather(tournament, analysis=False)))
    games = {str(game.id): game for game in read_games(tournament)}
    assert len(games) == len(data["games"]) == 60
    for entry in data["games"]:
        game = games[entry["id"]]
        record = game.record
        assert [data["agents"][agent] for agent in entry["agents"]] == list(game.agents)
        assert moves_of(entry, data) == list(record.moves)
        assert data["boards"][entry["board"]] == [4, 5, 4]
        assert entry["opening"] == len(record.opening) == 2
        assert (entry["ending"], entry["points"]) == (record.ending, record.points(0))
        assert entry.get("culprit") == record.culprit
        assert entry.get("stderr", "") == record.stderr
        assert entry["ms"] == pytest.approx([1000 * each for each in record.seconds], rel=0.01, abs=1e-9)
        assert "scores" not in entry
        assert "mistakes" not in entry


def test_games_are_in_the_order_of_their_ids(tournament):
    ids = [entry["id"] for entry in gather(tournament, analysis=False).games]
    assert ids[:3] == ["0-1-0", "0-1-1", "0-1-2"]
    assert ids.index("0-1-9") + 1 == ids.index("0-1-10")


def test_scores_and_first_mistakes_are_those_of_the_analysis(tournament, make):
    facts = gather(tournament)
    data = make.data(render(facts))
    analyst = Analyst(4, 5, 4)
    accuracy = {name: Tally() for name in facts.names}
    for game, entry in zip(
        sorted(read_games(tournament), key=lambda game: game.id), data["games"], strict=True
    ):
        analysis = analyse(game.record, analyst)
        assert tuple(scores_of(entry, data, 5)) == analysis.scores
        mistakes = [analysis.first_mistake(seat) for seat in (0, 1)]
        assert entry["mistakes"] == [mistake and mistake.ply for mistake in mistakes]
        for seat, name in enumerate(game.agents):
            accuracy[name] += analysis.accuracy(seat)
    assert facts.analysed == 60
    for name, agent in zip(facts.names, facts.agents, strict=True):
        assert agent.total == accuracy[name]
        assert list(agent.accuracy) == list(PHASES)


def test_forfeits_times_and_points_are_counted_by_agent(tournament):
    facts = gather(tournament, analysis=False)
    games = list(read_games(tournament))
    for index, name in enumerate(facts.names):
        agent = facts.agents[index]
        mine = [(game, game.agents.index(name)) for game in games if name in game.agents]
        assert agent.games == len(mine) == 40
        assert sum(agent.points[points] * points for points in agent.points) == sum(
            game.record.points(seat) for game, seat in mine
        )
        assert agent.forfeits.total() == sum(game.record.culprit == seat for game, seat in mine)
        calls = [
            seconds
            for game, seat in mine
            for ply, seconds in enumerate(game.record.seconds, len(game.record.opening))
            if ply % 2 == seat
        ]
        assert sorted(agent.seconds) == sorted(calls)
        median, mean, slow, longest = agent.times
        assert 0 <= median <= slow <= longest == max(calls)
        assert mean == pytest.approx(sum(calls) / len(calls))
    assert facts.agents[2].forfeits[Ending.ERROR] > 0
    assert facts.endings.total() == 60


columns_of_scores = st.lists(st.none() | st.integers(-64, 64), min_size=7, max_size=7)


@given(st.lists(st.none() | columns_of_scores))
def test_scores_are_a_text(positions):
    text = score_text(positions, 7)
    assert len(text) == 7 * len(positions)
    assert not set(text) & set("<>&'\"\\")
    for at, scores in enumerate(positions):
        part = text[7 * at : 7 * at + 7]
        if scores is None:
            assert part == NOT_SOLVED * 7
        else:
            assert [None if c == FULL_COLUMN else DIGITS.index(c) - ZERO for c in part] == scores


def test_scores_of_the_standard_board_take_a_byte_each():
    text = score_text([range(-21, 22)], 43)
    assert json.dumps(text) == f'"{text}"'


def test_digits_are_different_and_reach_as_far_as_boards_can_be_solved():
    assert len(set(DIGITS + FULL_COLUMN + NOT_SOLVED)) == len(DIGITS) + 2
    assert not fits(Board(15, 9, 4))  # 135 cells
    assert min(ZERO, len(DIGITS) - ZERO - 1) >= 64


def test_moves_are_letters():
    assert move_text([0, 1, 25]) == "abz"


def recorded(name, record, players=("a", "b")):
    return RecordedGame(name, players, record)


def test_games_of_one_name_are_told_apart_and_a_player_may_meet_itself():
    agent = lambda obs, config: next(c for c in range(config.columns) if not obs.board[c])  # noqa: E731
    record = play_game([agent, agent])
    facts = Facts()
    for _ in range(3):
        facts.add(recorded("episode", record, ("twin", "twin")), None)
    assert [entry["id"] for entry in facts.games] == ["episode", "episode (2)", "episode (3)"]
    assert facts.names == ["twin"]
    assert facts.agents[0].games == 3
    assert facts.agents[0].points == {1.0: 3, 0.0: 3}
    assert len(facts.agents[0].seconds) == 3 * len(record.seconds)


def test_a_game_without_result_counts_for_nobody(make):
    record = play_game([make.chooser(1), make.chooser(2)])
    facts = Facts()
    facts.add(recorded("1", replace(record, ending=Ending.ABORTED, rewards=(None, None))), None)
    assert facts.games[0]["points"] is None
    assert not facts.agents[0].points


@pytest.mark.parametrize("size", [(8, 9), (4, 5), (12, 16), (1, 40)])
def test_boards_of_other_sizes(size, make, tmp_path):
    board = configuration(rows=size[0], columns=size[1])
    record = play_game([make.chooser(1), make.chooser(2)], board)
    facts = gather(make.records(tmp_path / "games.txt", record, record), analysis=size != (8, 9))
    data = make.data(render(facts))
    assert data["boards"] == [[*size, 4]]
    assert moves_of(data["games"][0], data) == list(record.moves)
    board = Board.from_moves(moves_of(data["games"][1], data), *size, 4)
    assert board.to_flat() == record.board.to_flat()
    assert ("scores" in data["games"][0]) == (size == (4, 5))
    if size == (12, 16):
        assert any("too large" in note for note in facts.notes)


def test_a_tournament_without_games_has_a_page(make, tmp_path):
    make.tournament(tmp_path, {"a": make.chooser(1), "b": make.chooser(2)}, 0)
    (tmp_path / "tournament.json").write_text(
        json.dumps(make.settings(["a", "b"], 10, configuration(rows=4, columns=5)))
    )
    page = render(gather(tmp_path))
    assert "No game has been played yet: 10 are planned." in page
    assert 'id="viewer"' not in page


def test_what_cannot_be_shown_is_told_in_a_line(tmp_path, make):
    for source in (tmp_path / "absent", tmp_path):
        with pytest.raises(InputError) as error:
            gather(source)
        assert "\n" not in str(error.value)
    with pytest.raises(InputError, match="cannot write"):
        write_page(Facts(), tmp_path / "no" / "page.html")
    make.tournament(tmp_path, {"a": make.chooser(1), "b": make.chooser(2)}, 2)
    (tmp_path / "tournament.json").write_text(json.dumps({"agents": ["a"], "games": 2}))
    with pytest.raises(InputError, match="games of one tournament"):
        gather(tmp_path)


def test_where_pages_are_written(tmp_path):
    assert page_path(tmp_path) == tmp_path / "report.html"
    assert page_path(tmp_path / "episode.json") == tmp_path / "episode.json.html"


def test_an_end_to_the_analysis_leaves_the_other_games_without(tournament):
    told = []
    facts = gather(tournament, minutes=0, tell=told.append)
    assert (facts.analysed, len(facts.games)) == (0, 60)
    assert told == facts.notes == ["60 of 60 games are shown without exact values: 0 minutes are over"]
