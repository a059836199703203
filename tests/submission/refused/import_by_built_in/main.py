helper = __import__("helper")

def agent(obs, config):
    return helper.first(obs)
