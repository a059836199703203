from helper import (
    first,
    second,
)

def agent(obs, config):
    return first(obs) + second(obs)
