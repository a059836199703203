def agent(obs, config):
    return len(bytearray(10 << 30)) % 7
