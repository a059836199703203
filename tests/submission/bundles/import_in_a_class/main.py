class Player:
    from helper import first

def agent(obs, config):
    return Player.first(obs)
