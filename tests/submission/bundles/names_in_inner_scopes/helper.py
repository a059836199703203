width = 2
table = [1, 2]


def score(x):
    agent = x * width
    return max(agent, *table)
