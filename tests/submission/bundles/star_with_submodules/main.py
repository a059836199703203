from pkg import *
from math import *


def agent(obs, config):
    return [part.value, shown, floor(pi), "hidden" in globals(), "_under" in globals()]
