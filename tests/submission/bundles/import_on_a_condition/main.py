import sys

if sys.maxsize > 0:
    from helper import first

def agent(obs, config):
    return first(obs)
