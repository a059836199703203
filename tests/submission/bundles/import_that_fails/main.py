import log

for _ in range(2):
    try:
        import broken
    except ZeroDivisionError:
        log.lines.append("failed")
try:
    import log.missing
except ModuleNotFoundError as error:
    log.lines.append(str(error).partition(";")[0])
try:
    from log import missing
except ImportError:
    log.lines.append("no name")


def agent(obs, config):
    return log.lines
