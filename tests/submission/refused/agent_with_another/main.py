def play(obs, config):
    return 0

agent, helper = play, len
