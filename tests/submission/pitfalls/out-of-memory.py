TABLE = []


def agent(obs, config):
    while True:
        TABLE.append(bytearray(1 << 25))
