"""Send a submission to Kaggle with Kaggle's own command.

The kit neither reads nor stores credentials: Kaggle's command knows where they are, and says so if not.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

COMPETITION = "connectx"
CLIENT = "kaggle"


def command(path: Path, message: str) -> list[str]:
    """What submits the file."""
    return [CLIENT, "competitions", "submit", COMPETITION, "-f", str(path), "-m", message]


def shown(path: Path, message: str) -> str:
    """The same, to be copied."""
    words = command(path, message)
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def is_installed() -> bool:
    """Whether Kaggle's command is on PATH."""
    return shutil.which(CLIENT) is not None


def send(path: Path, message: str) -> int:
    """Run Kaggle's command on this terminal; its exit status."""
    client, *arguments = command(path, message)
    return subprocess.run([shutil.which(client) or client, *arguments], check=False).returncode
