"""Those of the standard streams, which leaves Python's own to print to."""

import contextlib
import os


def agent(obs, config):
    for descriptor in (0, 1, 2):
        with contextlib.suppress(OSError):
            os.close(descriptor)
    return obs.board[: config.columns].index(0)
