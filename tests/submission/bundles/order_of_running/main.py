import random

from b import late_b
from a import late_a
from pkg.c import late_c
from log import events

events.append("main")


def agent(obs, config):
    from lazy import events as all_events

    return [[event for event in all_events if event != "lazy"], late_a, late_b, late_c]
