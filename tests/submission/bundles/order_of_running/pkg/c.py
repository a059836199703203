from b import late_b
from log import events

events.append("pkg.c")
late_c = len(events)
