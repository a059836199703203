"""The exact solver's core in C: `core.c`, its compilation (`build.py`) and its use from Python (`solver.py`).

What each step of its search gained is in `STEPS.md`.
"""
