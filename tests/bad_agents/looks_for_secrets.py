"""In its environment and that of every process, and in what others have in memory."""

import contextlib
import glob
import os

for path in glob.glob("/proc/[0-9]*/environ"):
    try:
        with open(path, "rb") as file:
            assert b"the-secret" not in file.read(), path
    except OSError:
        pass
assert "the-secret" not in str(dict(os.environ))
for descriptor in range(4, 256):
    try:
        os.fstat(descriptor)
    except OSError:
        continue
    raise AssertionError(f"descriptor {descriptor} is open")


def agent(obs, config):
    with contextlib.suppress(OSError):
        os.kill(os.getppid(), 9)
    return obs.board[: config.columns].index(0)
