"""The memory of a long tournament."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import json, resource, sys
from evaluation import play_tournament

def leftmost(obs, config):
    return obs.board[: config.columns].index(0)

played, peaks = 0, {}

def on_game(result, now):
    global played
    played += 1
    if played in (1_000, 100_000):
        peaks[played] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

play_tournament(
    [leftmost, "random_legal"], games=100_000, out=sys.argv[1], on_game=on_game,
)
print(json.dumps(peaks))
"""


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ru_maxrss is in KiB on Linux only")
def test_memory_is_flat_over_a_hundred_thousand_games(tmp_path):
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    peaks = {int(games): kib / 1024 for games, kib in json.loads(answer.stdout).items()}
    print({games: f"{peak:.0f} MiB" for games, peak in peaks.items()})
    assert peaks[100_000] - peaks[1_000] < 16
