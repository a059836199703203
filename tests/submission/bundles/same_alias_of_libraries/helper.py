import statistics as m

def first(obs):
    return m.mean([obs, obs])
