"""How well an agent plays: games, matches and what may be concluded from them."""

from evaluation.match import MatchInterrupted, get_win_percentages, play_match
from evaluation.result import MatchResult

__all__ = ["MatchInterrupted", "MatchResult", "get_win_percentages", "play_match"]
