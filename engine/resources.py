"""Files that a program reads as it is made: weights, an opening book, the native core.

`data("book.bin")` is the one way to read them, because the bundler understands it: in a bundle the files are
part of the one file's text, and `data` finds them there.
"""

from __future__ import annotations

import sys
from pathlib import Path


def data(name: str) -> bytes:
    """The bytes of the file `name` beside the module that calls this; for code in no file, such as that of a
    notebook, in the working directory.

    For a bundle `name` has to be written out where `data` is called. Raises `FileNotFoundError`.
    """
    caller = Path(sys._getframe(1).f_code.co_filename)  # Kaggle's loader gives a module no `__file__`
    folder = caller.parent if caller.is_file() else Path()
    return (folder / name).read_bytes()
