from bot.think import think


def agent(obs, config):
    return think(obs)
