import sys

if sys.maxsize > 0:
    def agent(obs, config):
        return 0
