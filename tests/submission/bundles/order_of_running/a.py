from log import events

events.append("a")
late_a = len(events)
