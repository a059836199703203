"""A message that is JSON, and no answer."""

import contextlib
import json
import os
import time


def agent(obs, config):
    data = json.dumps(["int", [[{}]], "long", None, 1]).encode()
    for descriptor in range(3, 64):
        with contextlib.suppress(OSError):
            os.write(descriptor, len(data).to_bytes(4, "big") + data)
    time.sleep(1000)
