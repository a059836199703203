# -*- coding: utf-8 -*-
'''A docstring with
from helper import nothing
in it, a backslash \\ and "quotes".'''

from helper import CODE, größe, 名前

TEXT = """
from helper import star
# ==== not a heading ====
\t\x41 \
joined
    indented"""; from helper import CODE as code
RAW = r'\d\n'
BYTES = b"from \x00 \xff"
LONG = (1 +
        2)  # ends


def agent(obs, config):
    f"""{TEXT
    }"""
    nested = f'{größe(obs)!r:>10} {"名前"}'
    return [TEXT, RAW, BYTES.hex(), CODE, code, nested, 名前, LONG, agent.__doc__ or "none", "🙂 é ünïcödé"]
