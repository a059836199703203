import os.path
import numpy as np
from collections import Counter as Tally
from os import path as paths

from helper import first


def agent(obs, config):
    import math as m

    return [first(obs), os.path.basename("a/b"), paths.basename("c/d"), int(np.int8(obs)), Tally("aab")["a"], m.floor(1.5)]
