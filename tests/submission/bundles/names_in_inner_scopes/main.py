from helper import score, table


class Agent:
    width = 5
    score = staticmethod(score)

    def table(self):
        table = 3
        return [table, self.score(1), self.width]


def outer(width):
    helper = [width for width in range(2)]

    def inner():
        nonlocal helper
        helper = sorted(table, key=lambda score: -score)
        return helper

    return inner()


def agent(obs, config):
    max = 3
    return [Agent().table(), outer(1), max, (lambda table: table)(obs)]
