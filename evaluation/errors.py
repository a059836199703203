"""The error a person's input leads to."""


class InputError(ValueError):
    """Input that cannot be used. The message is one line: what was wrong and what to do."""
