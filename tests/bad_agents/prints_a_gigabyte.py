def agent(obs, config):
    for _ in range(1024):
        print("x" * (1 << 20))
    return 3
