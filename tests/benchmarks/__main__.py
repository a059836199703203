"""`make benchmark`: every speed the kit speaks of, as a ratio to a peer measured in the same run.

A name picks one: `python -m tests.benchmarks referee`.
"""

import importlib
import sys
from pathlib import Path


def main(names: list[str]) -> None:
    known = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"error: no benchmark {', '.join(unknown)}: there are {', '.join(known)}")
    for name in names or known:
        print(f"\n{name}")
        importlib.import_module(f"tests.benchmarks.{name}").run()


main(sys.argv[1:])
