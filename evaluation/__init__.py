"""How well an agent plays: games, matches, tournaments and what may be concluded from them."""

from evaluation.match import MatchInterrupted, get_win_percentages, play_match
from evaluation.result import MatchResult
from evaluation.standings import TournamentResult
from evaluation.tournament import TournamentInterrupted, play_tournament, read_tournament

__all__ = [
    "MatchInterrupted",
    "MatchResult",
    "TournamentInterrupted",
    "TournamentResult",
    "get_win_percentages",
    "play_match",
    "play_tournament",
    "read_tournament",
]
