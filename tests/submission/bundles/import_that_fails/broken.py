import log

log.lines.append("runs")
1 / 0
