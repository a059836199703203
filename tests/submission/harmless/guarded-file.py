import os
import sys

try:
    FOLDER = os.path.dirname(__file__)
except NameError:
    FOLDER = "/kaggle_simulations/agent"
if "__file__" in globals():
    FOLDER = __file__

try:
    with open(os.path.join(FOLDER, "book.txt")) as file:
        BOOK = file.read()
except OSError as error:
    print(f"no book: {error}", file=sys.stderr)
    BOOK = ""

try:
    import numba
except ImportError:
    numba = None


def agent(obs, config):
    return next(c for c in range(config.columns) if obs.board[c] == 0)
