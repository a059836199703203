import contextlib
import signal
import time

for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
    with contextlib.suppress(OSError):
        signal.signal(number, signal.SIG_IGN)


def agent(obs, config):
    while True:
        time.sleep(1)
