from log import events

events.append("lazy")
