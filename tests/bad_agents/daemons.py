"""Children in sessions of their own whose parents have ended."""

import os


def agent(obs, config):
    if obs.step < 6 and os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvp("sleep", ["sleep", "987654"])
        os._exit(0)
    return obs.board[: config.columns].index(0)
