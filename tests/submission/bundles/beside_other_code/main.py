from helper import one; SHIFT = 5; from helper import two as second
größe = "größer"; from helper import two; import math  # kept
BASE = 1; from helper import three;
from helper import one as erste; from helper import two as zweite


def agent(obs, config):
    from helper import three as third; result = third() + SHIFT
    if obs: from helper import two as lokal
    else: lokal = one
    return [one(), lokal(), second(), two(), three(), result, größe, math.floor(2.5), BASE, erste(), zweite()]
