from dataclasses import replace

from evaluation.analysis import Analyst, analyse
from evaluation.records import Ending
from evaluation.referee import configuration, play_game
from evaluation.replays import RecordedGame
from evaluation.report import gather, render
from evaluation.report.facts import Facts
from evaluation.report.verdict import sentences, title


def first_free(obs, config):
    return next(column for column in range(config.columns) if obs.board[column] == 0)


def single(record, analysis=None, players=("a", "b")):
    facts = Facts()
    facts.add(RecordedGame("1", players, record), analysis)
    return facts


def test_a_clear_winner_and_a_tie_are_told_apart(make, tmp_path):
    clear = gather(
        make.tournament(tmp_path / "clear", {"a": first_free, "b": make.failing("oh")}, 20), analysis=False
    )
    assert title(clear) == "a against b"
    verdict = sentences(clear)
    assert verdict[0].startswith("a is stronger: a scored 100.0 % against b (95 % interval ")
    assert verdict[-1] == "Games lost by forfeit: b 20 of 20."
    tie = gather(
        make.tournament(tmp_path / "tie", {"a": make.chooser(1), "b": make.chooser(2)}, 4), analysis=False
    )
    assert sentences(tie)[0].startswith("No difference is shown: a scored ")


def test_the_leader_of_a_pool(make, tmp_path):
    agents = {"weak": make.failing("oh"), "good": first_free, "bad": make.failing("no")}
    facts = gather(make.tournament(tmp_path, agents, 20), analysis=False)
    assert title(facts) == "Round robin of 3 agents"
    assert sentences(facts)[0].startswith("good is the strongest: against ")


def test_a_sequential_test_is_shown(make, tmp_path):
    agents = {"a": first_free, "b": make.failing("oh")}
    facts = gather(make.tournament(tmp_path, agents, 40, sprt=[0.5, 0.7]), analysis=False)
    assert "The sequential test accepts a score of 70 %." in sentences(facts)
    page = render(facts)
    assert "Sequential tests" in page
    assert "a score of 50 % against 70 %" in page
    assert len(facts.games) == 40 > facts.standings.games  # those after the verdict are shown, not counted
    assert f"{facts.standings.games} of 40 planned" in page


def test_an_unfinished_tournament_says_so(make, tmp_path):
    make.tournament(tmp_path, {"a": make.chooser(1), "b": make.chooser(2)}, 4)
    lines = (tmp_path / "games.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "games.jsonl").write_text("".join(lines[:3]) + lines[3][:40])
    told = []
    facts = gather(tmp_path, analysis=False, tell=told.append)
    assert sentences(facts)[-1] == "3 of at most 4 games have been played so far."
    assert len(facts.games) == 3
    assert len(told) == 1
    assert "was cut off" in told[0]


def test_the_verdict_on_one_game(make):
    board = configuration(rows=4, columns=5)
    record = play_game([first_free, make.failing("oh")], board)
    assert sentences(single(record)) == [
        f"b forfeited after {len(record.moves)} discs (exception), so a won."
    ]
    broken = replace(record, ending=Ending.ABORTED, culprit=None, rewards=(None, None))
    assert "no result" in sentences(single(broken))[0]
    won = play_game([make.chooser(1), make.chooser(2)], board)
    mistake = analyse(won, Analyst(4, 5, 4)).first_mistake()
    verdict = sentences(single(won, analyse(won, Analyst(4, 5, 4))))
    assert mistake is not None
    assert verdict[1].startswith(
        f"The first mistake was {'ab'[mistake.seat]}'s, disc {mistake.ply + 1} in column "
    )


def test_players_of_one_name_are_told_apart(make):
    record = play_game([first_free, make.failing("oh")], configuration(rows=4, columns=5))
    assert sentences(single(record, players=("twin", "twin")))[0].startswith(
        "twin (○, moving second) forfeited"
    )
