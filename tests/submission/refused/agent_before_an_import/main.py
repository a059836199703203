def agent(obs, config):
    return int(floor(0.5))

from math import floor
