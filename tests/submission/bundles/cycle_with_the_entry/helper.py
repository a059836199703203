import main

def first(obs):
    return main.LIMIT
