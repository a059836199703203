import os
import numpy as np
import os.path as paths
from collections import Counter as Tally


def first(obs):
    import statistics as m

    return [os.sep, int(np.int64(obs)), paths.basename("e/f"), Tally("b")["b"], m.mean([1, 1])]
