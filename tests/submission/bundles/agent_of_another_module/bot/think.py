def think(obs):
    return obs + 1
