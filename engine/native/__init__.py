"""The native core in C and its use from Python.

The source is `core.c`, the exact solver, which includes `windows.c`, the depth-limited searches. `build.py`
compiles it; in a bundle `embedded.py` takes its place, with a compiled one. `solver.py` gives exact scores,
`search.py` the values and best columns of `engine.search`. What each step of the solver gained is in
`STEPS.md`.
"""
