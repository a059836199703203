"""The pitfalls known by name: how grave each is, what happens, what to do about it.

`python -m submission check` meets them in a file before it is submitted, `python -m evaluation explain` in
what Kaggle made of it.

Pitfalls of arenas rather than of files are not among them; the kit handles those where games
are arranged. Deterministic agents replaying two games, win rates without error bars: `evaluation.match`
plays distinct openings in swapped pairs and prints the interval and the number of distinct games.
Forfeits miscounted (the winner of a forfeit has reward 0): `evaluation.records.GameRecord.points`.
Two games in two threads, a half-played environment after an exception, state shared by two seats:
`evaluation.match` uses processes, and `evaluation.loading.load_agent` makes a fresh agent a game.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How grave a finding is; only a failure makes the check fail."""

    FAILURE = "failure"
    WARNING = "warning"
    NOTE = "note"


FAILURE, WARNING, NOTE = Severity


@dataclass(frozen=True)
class Pitfall:
    """What is known of a pitfall beforehand. A `WARNING` becomes a failure where it explains one."""

    severity: Severity
    what: str
    remedy: str


PITFALLS = {
    # The file itself
    "archive-layout": Pitfall(
        FAILURE,
        "Kaggle looks for main.py at the root of the archive, and finds none.",
        "Pack the files, not their folder: tar -czf submission.tar.gz -C FOLDER main.py OTHERS",
    ),
    "too-large": Pitfall(
        FAILURE,
        "Kaggle refuses submissions of more than 100 MB.",
        "Leave out what the agent does not need, or compress its data.",
    ),
    "not-utf8": Pitfall(
        FAILURE,
        "Kaggle reads the file as UTF-8; other bytes make it no agent at all.",
        "Save the file as UTF-8, and binary data as base64 text.",
    ),
    "byte-order-mark": Pitfall(
        FAILURE,
        "The file begins with a byte order mark, which Kaggle's loader takes for a syntax error.",
        'Save the file as "UTF-8", not "UTF-8 with BOM".',
    ),
    "notebook-magic": Pitfall(
        FAILURE,
        "Lines that only a notebook understands (%%writefile, !pip, get_ipython) are in the file.",
        "Delete those lines: %%writefile belongs into the cell, not into the file.",
    ),
    "syntax-error": Pitfall(FAILURE, "The file is no valid Python.", "Correct the line named."),
    "appended-file": Pitfall(
        WARNING,
        "`agent` is defined more than once: an old copy is still in the file.",
        "Write the file anew instead of appending (%%writefile without -a, open with 'w').",
    ),
    # Loading
    "module-not-found": Pitfall(
        FAILURE,
        "The file imports a module that is not there on Kaggle.",
        "Put its code into the file (python -m submission bundle), or pack it beside main.py in a tar.gz.",
    ),
    "import-inside-agent": Pitfall(
        WARNING,
        "A function imports a module of your own: the file's folder is on sys.path only while it loads.",
        "Import it at the top of the file, or put its code into the file.",
    ),
    "foreign-package": Pitfall(
        WARNING,
        "The file needs a package that is neither the standard library nor numpy.",
        "Do without it, or be sure that Kaggle has it; importing it counts towards the first move.",
    ),
    "dunder-file": Pitfall(
        WARNING,
        "The file uses __file__, which Kaggle's loader does not define.",
        "Put the data into the file as text; in an archive open /kaggle_simulations/agent/NAME.",
    ),
    "main-guard": Pitfall(
        WARNING,
        'Code under `if __name__ == "__main__":` never runs on Kaggle: there __name__ is "builtins".',
        "Move what the agent needs out of the guard, and delete the rest.",
    ),
    "relative-open": Pitfall(
        FAILURE,
        "A file is opened by a relative path, but Kaggle's working directory is not the agent's folder.",
        "Put the data into the file as text; in an archive open /kaggle_simulations/agent/NAME.",
    ),
    "hidden-fallback": Pitfall(
        WARNING,
        "A try/except around loading data hides that the agent plays without it.",
        "Catch only what you expect, and say so: print to sys.stderr in the except branch.",
    ),
    "kept-stream": Pitfall(
        WARNING,
        "The file keeps sys.stdout or sys.stderr, which Kaggle replaces and closes with every move.",
        "Import sys and name sys.stderr where you print: print(..., file=sys.stderr).",
    ),
    "pickles-own-class": Pitfall(
        FAILURE,
        "The file's own classes cannot be pickled or unpickled: for Kaggle they belong to no module.",
        "Keep data as plain lists, dictionaries or numpy arrays.",
    ),
    "inspect-getsource": Pitfall(
        FAILURE,
        "The source of the file's own classes cannot be inspected: for Kaggle they belong to no module.",
        "Do without inspect.getsource.",
    ),
    "load-error": Pitfall(
        FAILURE, "The file raises an exception while it loads.", "Mend the line named; each line runs once."
    ),
    "no-callable": Pitfall(
        FAILURE, "The file defines nothing that can be called.", "End it with def agent(obs, config)."
    ),
    # The callable Kaggle chooses
    "agent-not-last": Pitfall(
        FAILURE,
        "Kaggle calls the callable whose name was bound last, by its first binding: that is not `agent`.",
        "Define `agent` last and once: helpers, classes and imports come before it.",
    ),
    "class-chosen": Pitfall(
        FAILURE,
        "The last callable is a class: Kaggle makes an object of it and takes that for the move.",
        "Define a function agent(obs, config) after the class.",
    ),
    "cached-agent": Pitfall(
        FAILURE,
        "The agent is wrapped by functools.cache or lru_cache, but obs and config cannot be hashed.",
        "Cache a helper that takes numbers and tuples, not the agent.",
    ),
    "star-args": Pitfall(
        FAILURE,
        "def agent(*args) receives no arguments: Kaggle passes as many as are named.",
        "Name them: def agent(obs, config).",
    ),
    "one-argument-call": Pitfall(
        FAILURE,
        "The agent is an object whose __call__ takes one argument; Kaggle passes an object both.",
        "Write def __call__(self, obs, config), or a function agent(obs, config).",
    ),
    "wrong-argument-count": Pitfall(
        FAILURE,
        "The agent cannot be called with what Kaggle passes: obs and config.",
        "Define it as agent(obs, config).",
    ),
    # What it answers
    "returns-none": Pitfall(
        FAILURE,
        "The agent returns None, which Kaggle plays as column 0, and as INVALID once that is full.",
        "Return a column on every path through the function.",
    ),
    "returns-numpy": Pitfall(
        FAILURE, "The agent returns a number of numpy's, which is INVALID.", "Return int(column)."
    ),
    "returns-float": Pitfall(
        FAILURE,
        "The agent returns a float: 3.5 is INVALID, 3.0 breaks the whole episode.",
        "Return int(column); divide with //.",
    ),
    "returns-wrong-type": Pitfall(
        FAILURE,
        "The agent returns something that is no int (a bool, a string, a list ...), which is INVALID.",
        "Return int(column).",
    ),
    "returns-exception": Pitfall(
        FAILURE, "The agent returns an exception object, which is an ERROR.", "Return a column."
    ),
    "generator-or-coroutine": Pitfall(
        FAILURE,
        "The agent is a generator or a coroutine, which breaks the whole episode.",
        "Use return instead of yield, and def instead of async def.",
    ),
    "column-out-of-range": Pitfall(
        FAILURE,
        "The agent returns a column that does not exist, which is INVALID.",
        "Columns are 0 to config.columns - 1.",
    ),
    "full-column": Pitfall(
        FAILURE,
        "The agent plays a full column, which is INVALID.",
        "Choose among the columns c where obs.board[c] == 0.",
    ),
    # How it ends
    "raises-exception": Pitfall(
        FAILURE, "The agent raises an exception, which is an ERROR.", "Mend the line named."
    ),
    "exits": Pitfall(
        FAILURE,
        "The file calls exit(), or raises KeyboardInterrupt, which ends the whole episode.",
        "Return a column instead; in a file that is loaded, nothing may exit.",
    ),
    "process-dies": Pitfall(
        FAILURE,
        "The whole process ends: os._exit, or a crash in compiled code.",
        "Play it on your own machine under python -X faulthandler to see where.",
    ),
    "out-of-memory": Pitfall(
        FAILURE, "The agent takes more memory than there is.", "Bound its tables; stay under 1 GB."
    ),
    "never-returns": Pitfall(
        FAILURE,
        "A move does not end within actTimeout and all the overage time: a TIMEOUT.",
        "Look for an endless loop; stop every search at a deadline.",
    ),
    "times-out": Pitfall(
        FAILURE,
        "The agent has used up actTimeout and all the overage time: a TIMEOUT.",
        "Stop the search at a deadline well before config.actTimeout.",
    ),
    # Time, threads, memory
    "obsolete-timeout": Pitfall(
        WARNING,
        "The agent reads config.timeout or config.agentTimeout, which Kaggle ignores.",
        "Use config.actTimeout for a move, and obs.remainingOverageTime for the bank of the whole game.",
    ),
    "slow-load": Pitfall(
        WARNING,
        "Loading takes more than a second, half of actTimeout; it counts towards the first move.",
        "Build tables lazily, import less, or store tables ready made.",
    ),
    "slow-first-move": Pitfall(
        WARNING,
        "The first move takes longer than actTimeout, and uses overage time.",
        "Prepare less, or let the first move's search end earlier.",
    ),
    "overage-used": Pitfall(
        WARNING,
        "One game uses more than a tenth of the overage time; Kaggle's machines may be slower than yours.",
        "Let the search end well before config.actTimeout.",
    ),
    "starts-threads": Pitfall(
        WARNING,
        "The agent starts threads or processes; Kaggle gives it about one processor.",
        "Search in one thread.",
    ),
    "blas-threads": Pitfall(
        WARNING,
        "numpy's matrix products run on several threads, which on Kaggle's one processor slow each other.",
        "Multiply smaller matrices, or use numpy.einsum, which stays on one thread.",
    ),
    "memory-hungry": Pitfall(
        WARNING,
        "The agent takes more than a quarter of the memory there is likely to be.",
        "Bound its tables; stay under 1 GB.",
    ),
    "uses-network": Pitfall(
        WARNING,
        "The agent connects to the network, and Kaggle has none.",
        "Put what it needs into the file.",
    ),
    # Under restrictions
    "needs-network": Pitfall(
        FAILURE,
        "The agent cannot play without the network, and Kaggle has none.",
        "Put what it needs into the file.",
    ),
    "needs-files": Pitfall(
        WARNING,
        "The agent cannot play without writing to a folder or to a file in memory; Kaggle promises neither.",
        "Fall back to something that needs no file, and say so on sys.stderr.",
    ),
    "needs-memory": Pitfall(
        WARNING,
        "The agent cannot play within 1 GB of memory; nobody knows how much Kaggle gives.",
        "Bound its tables, or make smaller ones when the larger raise MemoryError.",
    ),
    "needs-environment": Pitfall(
        WARNING,
        "The agent cannot play without an environment variable, and Kaggle's are not yours.",
        "Use os.environ.get(NAME, VALUE).",
    ),
    "slow-on-half": Pitfall(
        WARNING,
        "With half of a processor, which may be what Kaggle gives, the agent uses overage time.",
        "Look at the clock more often; end every search at a deadline before config.actTimeout.",
    ),
    "fails-restricted": Pitfall(
        WARNING,
        "The agent fails where all is restricted at once, though under no single restriction.",
        "Run it in a container without network and writable folders to see why.",
    ),
    "other-python": Pitfall(
        WARNING,
        "The file does not play on another version of Python; Kaggle changes its own from time to time.",
        "Do without what only some versions have.",
    ),
    # How it behaves
    "state-between-games": Pitfall(
        WARNING,
        "The agent remembers earlier games: it then plays otherwise than a fresh one.",
        "Reset what it keeps when obs.step is 0 or 1, or keep nothing.",
    ),
    "other-configurations": Pitfall(
        WARNING,
        "The agent fails on other sizes of board or other values of inarow.",
        "Take sizes from config.rows, config.columns and config.inarow.",
    ),
    "differs-from-package": Pitfall(
        FAILURE,
        "The file plays otherwise than the agent it was bundled from.",
        "Bundle it anew: python -m submission bundle SPEC -o main.py",
    ),
    "status-invalid": Pitfall(
        WARNING,
        'The file looks for the status "Invalid"; Kaggle writes INVALID.',
        'Compare with "INVALID".',
    ),
    "nondeterministic": Pitfall(
        NOTE,
        "The agent's moves vary even with seeded random numbers and a counting clock.",
        "Nothing need be done; to repeat its games, draw from random or numpy.random.",
    ),
    "prints": Pitfall(
        NOTE, "The agent prints; Kaggle keeps that in the episode's log.", "Nothing need be done."
    ),
    "prints-cut": Pitfall(
        NOTE,
        "The agent prints more than 10,000 characters in a move; Kaggle cuts off the rest.",
        "Print less if you want to read it.",
    ),
}
