"""Plays files against themselves in Kaggle's environment: `python play_episodes.py run|serve FILE ...`.

Started by tests; each line on standard output is an episode: the file's name, `environment` (env.toJSON()),
`logs` (env.logs) and `agent_logs`. With `run` the environment calls the agents, as in a notebook, each file
in a process of its own. With `serve` it asks two servers over HTTP, the package's own, as on Kaggle; they
write `agent_logs`, the texts that `kaggle competitions logs` gives.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from pathlib import Path

import kaggle_environments
import numpy  # noqa: F401 - so that no file has to wait for it
import requests

BANK = 2.0
ABOUT_TIME = ("times-out", "slow", "obsolete", "overage", "never")
kaggle_environments.make("connectx")
specification = kaggle_environments.core.environments["connectx"]["specification"]
specification["observation"]["remainingOverageTime"] = BANK


def play(name, agents):
    """An episode of these agents, whatever ends it, and what broke it off."""
    # A machine may be busy: only files that are about time get little of it.
    env = kaggle_environments.make("connectx", {"actTimeout": 0.2 if name.startswith(ABOUT_TIME) else 20})
    broken = ""
    try:
        env.run(agents)
    except BaseException:
        broken = traceback.format_exc()
    return {"environment": env.toJSON(), "logs": env.logs, "broken": broken}


def run(path, out):
    """Plays in a process of its own."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    os.chdir(tempfile.gettempdir())
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    episode = play(path.stem, [str(path), str(path)])
    out.write(json.dumps({"name": path.stem, **episode}) + "\n")
    out.flush()
    os._exit(0)


class Server:
    """The process of an agent, as Kaggle has one for each."""

    def __init__(self, folder, seat):
        self.log = Path(folder) / f"{seat}.json"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        words = ["http-server", "--host", "127.0.0.1", "--port", str(self.port), "--log", str(self.log)]
        command = [sys.executable, "-m", "kaggle_environments.main", *words]
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def wait(self):
        while self.process.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return self
            time.sleep(0.05)
        raise SystemExit("the server of an agent has not started")

    def url(self, path):
        return f"http://127.0.0.1:{self.port}/?agents[]={path}"

    def finish(self):
        """The log of the episode."""
        with suppress(requests.RequestException):
            requests.post(f"http://127.0.0.1:{self.port}", data='{"action": "dispose"}', timeout=2)
        text = self.log.read_text() if self.log.exists() else ""
        self.log.unlink(missing_ok=True)
        return text

    def stop(self):
        self.process.kill()
        self.process.wait()


def serve(paths, out):
    """Plays all of them, with new servers where one has died or does not answer."""
    servers = []
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            if any(each.process.poll() is not None for each in servers) or not servers:
                for each in servers:
                    each.stop()
                servers = [Server(folder, seat) for seat in (0, 1)]
            episode = play(path.stem, [each.wait().url(path) for each in servers])
            logs = [each.finish() for each in servers]
            out.write(json.dumps({"name": path.stem, "agent_logs": logs, **episode}) + "\n")
            if path.stem.startswith("never"):
                servers[0].stop()
        for each in servers:
            each.stop()


def main():
    with os.fdopen(os.dup(1), "w") as out:
        os.dup2(2, 1)
        paths = [Path(path) for path in sys.argv[2:]]
        if sys.argv[1] == "serve":
            serve(paths, out)
        else:
            for path in paths:
                run(path, out)


if __name__ == "__main__":
    main()
