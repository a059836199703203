import time


def agent(obs, config):
    """Works for most of the time, whatever a clock on the wall says: the first player fills a column and wins."""
    end = time.thread_time() + 0.9 * config.actTimeout
    while time.thread_time() < end:
        pass
    return obs.mark % config.columns
