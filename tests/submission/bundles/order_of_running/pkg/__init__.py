from log import events

events.append("pkg")
