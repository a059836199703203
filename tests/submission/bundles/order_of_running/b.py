from a import late_a
from log import events

events.append("b")
late_b = len(events)
