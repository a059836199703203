from pkg import (
    helper,
)

def agent(obs, config):
    return helper.first(obs)
