import subprocess
import threading
import time


def wait():
    while True:
        time.sleep(0.01)


def agent(obs, config):
    threading.Thread(target=wait).start()
    if obs.step < 6:
        subprocess.Popen(["sleep", "987654"])
    return obs.board[: config.columns].index(0)
