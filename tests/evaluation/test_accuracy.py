import json
import os
import random
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

from engine.board import Board
from evaluation import console
from evaluation.__main__ import app
from evaluation.accuracy import AccuracyInterrupted, examine, spread
from evaluation.analysis import PHASES, Tally
from evaluation.errors import InputError
from evaluation.isolation import AVAILABLE
from evaluation.loading import SpecError
from evaluation.positions import POSITIONS, Position, read_positions

BAD = Path(__file__).parent.parent / "bad_agents"
PATIENT = {"actTimeout": 60}  # on a busy machine two seconds may be none
COMMAND = [sys.executable, "-m", "evaluation", "accuracy"]

isolated = pytest.mark.skipif(not AVAILABLE, reason="agents are isolated on Linux and macOS only")


@pytest.fixture(scope="module")
def positions():
    return read_positions()


@pytest.fixture(scope="module")
def answers(positions):
    """The scores of every position of the kit, by its cells."""
    return {tuple(position.board.to_flat()): position.scores for position in positions}


def accuracy(*arguments):
    return CliRunner().invoke(app, ["accuracy", *map(str, arguments)])


def test_perfect_answers_a_sample_perfectly():
    result = examine("perfect", count=41, configuration=PATIENT)
    assert result.tally == Tally(41, 41, 41, 0)
    assert result.worst(3) == []


@pytest.mark.slow
def test_perfect_answers_everything_perfectly():
    result = examine("perfect", configuration=PATIENT)
    assert result.tally == Tally(980, 980, 980, 0)


def test_counts_are_those_of_an_agent_that_knows_the_answers(positions, answers):
    """It errs on purpose where the number of discs is a multiple of 3."""

    def agent(obs, _config):
        scores = answers[tuple(obs.board)]
        assert obs.mark == (2 if obs.step % 2 else 1) == Board.from_flat(obs.board).turn
        known = [(score, column) for column, score in enumerate(scores) if score is not None]
        return (max if obs.step % 3 else min)(known)[1]

    result = examine(agent, positions)
    wrong = [position for position in positions if position.board.ply % 3 == 0]
    lost = sum(position.best - min(s for s in position.scores if s is not None) for position in wrong)
    assert (result.tally.moves, result.tally.best) == (980, 980 - len(wrong))
    assert result.tally.lost == lost
    assert sum(result.by_phase.values(), Tally()) == result.tally
    assert sum(result.by_ply.values(), Tally()) == result.tally
    assert all(tally.best_share == (0.0 if ply % 3 == 0 else 1.0) for ply, tally in result.by_ply.items())
    worst = [mistake.move.lost for mistake in result.worst(1000)]
    assert worst == sorted(worst, reverse=True)
    assert (len(worst), sum(worst)) == (len(wrong), lost)


def test_what_is_no_move_is_a_loss_at_once(positions):
    def agent(obs, _config):
        if obs.step < 20:
            raise ValueError("too early\nfor me")
        return -1

    result = examine(agent, positions, count=80)
    early = sum(answer.position.board.ply < 20 for answer in result.answers)
    assert result.failures == {"error": early, "invalid": 80 - early}
    assert (result.tally.moves, result.tally.best, result.tally.kept) == (80, 0, 0)
    lost = sum(p.best + (42 - p.board.ply) // 2 for p in spread(positions, 80))
    assert result.tally.lost == lost
    text = str(result)
    assert f"invalid {80 - early}" in text
    assert f"error {early}" in text
    assert ": each a loss at once (position 1: for me)" in text


def test_slow_answers_are_counted(positions):
    def agent(obs, _config):
        time.sleep(0.02 if obs.step % 2 else 0)
        return next(column for column in range(7) if not obs.board[column])

    result = examine(agent, positions, count=20, configuration={"actTimeout": 0.01})
    odd = sum(answer.position.board.ply % 2 for answer in result.answers)
    assert result.slow >= odd
    assert f"{result.slow} answers took longer than actTimeout, 0.01 s" in str(result)
    assert result.times.longest >= 0.02


def test_an_agent_that_is_never_in_time_is_given_up(monkeypatch, positions):
    monkeypatch.setattr("evaluation.referee.OVERAGE_SECONDS", 0.0)

    def agent(_obs, _config):
        time.sleep(0.01)
        return 3

    result = examine(agent, positions, count=20, configuration={"actTimeout": 0.001})
    assert result.failures == {"timeout": 3}
    assert "  stopped         3 positions in a row without an answer in time" in str(result)
    assert "3 of 20 positions" in str(result)
    assert json.loads(result.to_json())["stop"] == "3 positions in a row without an answer in time"


def test_answers_follow_from_the_seed_and_the_position_alone():
    def replies(result):
        return {answer.position.number: answer.reply.column for answer in result.answers}

    first = replies(examine("random_legal", count=200, seed=5))
    assert replies(examine("random_legal", count=200, seed=5, jobs=2)) == first
    assert replies(examine("random_legal", count=200, seed=6)) != first
    whole = replies(examine("random_legal", seed=5))
    assert first.items() <= whole.items()


def test_the_global_generator_is_put_back():
    random.seed(8)
    expected = random.random()
    random.seed(8)
    examine("random_legal", count=3)
    assert random.random() == expected


@pytest.mark.parametrize("count", [1, 2, 41, 979, 980, 2000])
def test_a_part_of_the_positions_is_spread_over_all(positions, count):
    part = spread(positions, count)
    assert len(part) == min(count, 980)
    numbers = [position.number for position in part]
    assert numbers == sorted(set(numbers))
    gaps = [after - before for before, after in pairwise(numbers)]
    assert not gaps or max(gaps) - min(gaps) <= 1


@isolated
@pytest.mark.parametrize(
    ("name", "ending"),
    [("segfault", "signal"), ("os_exit", "exit"), ("garbage", "invalid"), ("keyboard_interrupt", None)],
)
def test_a_hostile_agent_harms_only_itself(name, ending):
    result = examine(str(BAD / f"{name}.py"), count=6)
    assert len(result.answers) == 6
    assert result.failures.total() == 6
    assert ending in (None, *result.failures)


def test_an_agent_given_as_a_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "import random\n"
        "def agent(obs, config):\n"
        "    return random.choice([c for c in range(7) if not obs.board[c]])\n"
    )
    one, again = (examine(str(path), count=10, seed=1) for _ in range(2))
    assert [a.reply.column for a in one.answers] == [a.reply.column for a in again.answers]
    assert not one.failures
    assert "; each with loading the file" in str(one)
    trusted = examine(str(path), count=10, trusted=True)
    assert not trusted.failures


def test_ctrl_c_keeps_the_answers(positions):
    def agent(obs, _config):
        if obs.step > 5:
            raise KeyboardInterrupt
        return 3

    with pytest.raises(AccuracyInterrupted) as stop:
        examine(agent, positions)
    assert stop.value.result
    assert all(answer.position.board.ply <= 5 for answer in stop.value.result.answers)
    assert "interrupted after 105 positions" in str(stop.value)
    assert "105 of 980 positions" in str(stop.value.result)


def test_json_has_everything(positions):
    result = examine("one_step", positions, count=60, seed=3)
    told = json.loads(result.to_json())
    assert (told["agent"], told["seed"], told["asked"], told["moves"]) == ("one_step", 3, 60, 60)
    assert told["best"] == result.tally.best_share
    assert list(told["by_phase"]) == list(PHASES)
    assert {int(ply) for ply in told["by_ply"]} == {answer["ply"] for answer in told["answers"]}
    assert sum(answer["lost"] == 0 for answer in told["answers"]) == result.tally.best
    assert told["configuration"]["actTimeout"] == 2


def test_the_command_prints_it():
    answer = accuracy("one_step", "--count", 100, "--seed", 1)
    assert (answer.exit_code, answer.stderr) == (0, "")
    lines = answer.stdout.splitlines()
    assert lines[0].startswith("one_step: ")
    assert lines[0].endswith(" % best moves in 100 positions")
    assert [line.split()[0] for line in lines[3:7]] == ["begin", "middle", "end", "all"]
    assert lines[-1] == "  asked with      100 positions of the kit, seed 1"
    assert "worst moves, with the score of every column (^ played, * best)" in answer.stdout
    assert " becomes " in answer.stdout


def test_a_worst_move_is_drawn_with_its_scores(tmp_path):
    board = Board.from_moves("4455")  # X wins with 3 or 6, see test_analysis
    path = tmp_path / "one"
    path.write_text(Position(1, board, (-4, -3, 18, 2, 2, 18, -3)).to_json())
    result = examine(lambda _obs, _config: 0, path)
    assert """\
  position 1, 4 discs
     .   .   .   .   .   .   .
     .   .   .   .   .   .   .
     .   .   .   .   .   .   .
     .   .   .   .   .   .   .
     .   .   .   O   O   .   .
     .   .   .   X   X   .   .
     1   2   3   4   5   6   7
    -4  -3  18   2   2  18  -3
     ^       *           *
  X plays 1: win 18 becomes loss -4
""" in str(result)
    assert "<pre>" in result._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nobody"], "there is no agent 'nobody'"),
        (["games.jsonl"], "there is no file games.jsonl"),
        (["one_step", "--positions", "none"], "cannot read none: "),
        (["one_step", "--count", "0"], "count must be at least 1, not 0"),
        (["one_step", "--jobs", "0"], "jobs must be at least 1, not 0"),
        (["one_step", "--act-timeout", "-1"], "actTimeout=-1.0 cannot be played"),
        ([str(POSITIONS)], "holds positions, not games: name an agent"),
        ([str(POSITIONS), "--count", "3"], "--positions and --count are for an agent"),
    ],
)
def test_a_persons_mistake_is_one_line(monkeypatch, capsys, arguments, complaint):
    monkeypatch.setattr(sys, "argv", ["evaluation", "accuracy", *arguments])
    with pytest.raises(SystemExit) as end:
        console.run(app)
    told = capsys.readouterr()
    assert (end.value.code, told.out) == (2, "")
    assert told.err.startswith("error: ")
    assert complaint in told.err
    assert told.err.count("\n") == 1


def test_wrong_agents_in_python():
    with pytest.raises(SpecError):
        examine("n_step:NOTHING=1")
    with pytest.raises(InputError):
        examine("n_step", count=0)


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
def test_ctrl_c_prints_the_result_so_far(tmp_path):
    seen = tmp_path / "seen"
    agent = tmp_path / "mine.py"
    agent.write_text(
        "import time\n"
        "def agent(obs, config):\n"
        "    if obs.step == 3:\n"
        f"        open({str(seen)!r}, 'w').close()\n"
        "        time.sleep(60)\n"
        "    return next(c for c in range(7) if not obs.board[c])\n"
    )
    command = [*COMMAND, str(agent), "--trust"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not seen.exists() and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "30 of 980 positions" in out
    assert err == "stopped\n"
