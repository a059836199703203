import os


def agent(obs, config):
    for _ in range(1024):
        os.write(1, b"x" * (1 << 20))
    return 3
