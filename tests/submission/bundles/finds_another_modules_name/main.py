from helper import first

def agent(obs, config):
    try:
        return second(obs)
    except NameError:
        return first(obs)
