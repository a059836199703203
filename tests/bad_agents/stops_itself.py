import os
import signal


def agent(obs, config):
    os.kill(os.getpid(), signal.SIGSTOP)
