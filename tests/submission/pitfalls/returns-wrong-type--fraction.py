from fractions import Fraction


def agent(obs, config):
    return Fraction(3)
