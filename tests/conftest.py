"""What holds for all tests."""

import signal

# What a shell starts in the background ignores Ctrl-C, and so would the programs that tests start and stop.
signal.signal(signal.SIGINT, signal.default_int_handler)
