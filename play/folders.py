"""Where a person's files belong on each system."""

from __future__ import annotations

import os
import sys
from pathlib import Path

NAME = "connectx-kit"


def config_folder() -> Path:
    """The folder of the settings; it need not exist."""
    return _folder("XDG_CONFIG_HOME", ".config", "APPDATA", "Roaming")


def data_folder() -> Path:
    """The folder of the records; it need not exist."""
    return _folder("XDG_DATA_HOME", ".local/share", "LOCALAPPDATA", "Local")


def _folder(xdg: str, unix: str, windows: str, windows_folder: str) -> Path:
    """By the XDG base directory specification, with `%APPDATA%` on Windows and Library on a Mac."""
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get(windows) or home / "AppData" / windows_folder) / NAME
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / NAME
    given = Path(os.environ.get(xdg, ""))
    return (given if given.is_absolute() else home / unix) / NAME  # the specification: ignore relative paths
