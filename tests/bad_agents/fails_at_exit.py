import atexit


class Fragile:
    def __del__(self):
        raise RuntimeError("in __del__")


@atexit.register
def fail():
    raise RuntimeError("at exit")


KEPT = Fragile()


def agent(obs, config):
    Fragile()
    return obs.board[: config.columns].index(0)
