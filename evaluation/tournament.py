"""Tournaments: agents play each other in reversed pairs of games; what is played is kept in a folder.

The folder DIR holds two files, which `evaluation.archive` reads and writes.

`tournament.json`, one object, the settings:
    agents          the specs, in the order given; games name them by their index, from 0
    versions        for each agent a digest of its own file, null where it has none
    games           how many each two that meet play
    gauntlet        true where only the first agent meets the others
    sprt            null, or the two scores of `--sprt`
    seed, referee   as in a match
    configuration   all of Kaggle's settings
    opening_plies   discs on the board after an opening
    anchor          the agent rated 0

`games.jsonl`, one object a line, a finished game each, in the order in which they ended:
    id              "I-J-N": agent I against agent J, I < J, game N; all from 0. I moves first where N is
                    even. Games 2K and 2K + 1 are a pair, from one opening
    agents          the names by seat: who moves first, who second
    seed            of the global random generators when the game began
    configuration, opening, moves, rewards, statuses, ending, culprit, refused, seconds, stderr
                    as in `evaluation.records.GameRecord`; culprit is a seat, 0 or 1
"""
