from .. import value as above
from ... import __all__ as names
from ...inner import deep

value = above + len(names)


def up(obs):
    from ... import value

    return [value, obs, deep.__name__]
