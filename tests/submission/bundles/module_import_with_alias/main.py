import os
import pkg.helper as h

def agent(obs, config):
    return h.first(obs)
