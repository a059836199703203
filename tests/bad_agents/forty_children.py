import subprocess
import time


def agent(obs, config):
    for _ in range(40):
        subprocess.Popen(["sleep", "987654"])
    time.sleep(1000)
