"""The plainest form."""

from helper import double, WEIGHT


def agent(obs, config):
    return double(obs) + WEIGHT
