LIMIT = 7


def decide(x):
    def agent():
        from later import last as agents_last

        return agents_last()

    return agent() + x
