from enum import IntEnum

Column = IntEnum("Column", [f"C{c}" for c in range(40)], start=0)


def agent(obs, config):
    return Column(obs.board.index(0))
