import os
import time


def agent(obs, config):
    os.closerange(3, 64)
    time.sleep(1000)
