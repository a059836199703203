"""What the text of a submission shows: the findings of `read`, by their ids."""

from __future__ import annotations

import pytest

from submission.static import read

SHOWN = {
    "file in a function": ("def f():\n    return __file__", "dunder-file"),
    "file after a guard that checks something else": (
        "if 'x' in globals():\n    F = __file__",
        "dunder-file",
    ),
    "guard turned round": ("if '__main__' == __name__:\n    X = 1", "main-guard"),
    "guard in parentheses and more": ("if (__name__ == '__main__') and True:\n    X = 1", "main-guard"),
    "import of a module inside a method": (
        "class A:\n    def f(self):\n        import mine",
        "import-inside-agent",
    ),
    "from-import inside agent": ("def agent(o, c):\n    from mine import x", "import-inside-agent"),
    "submodule": ("import scipy.signal", "foreign-package"),
    "relative import": ("from . import x", "foreign-package"),
    "attribute": ("def f(config):\n    return config.timeout", "obsolete-timeout"),
    "subscript": ("def f(cfg):\n    return cfg['agentTimeout']", "obsolete-timeout"),
    "get": ("def f(configuration):\n    return configuration.get('timeout', 2)", "obsolete-timeout"),
    "agent's own name": ("def agent(o, settings):\n    return settings.timeout", "obsolete-timeout"),
    "two agents": ("def agent(o, c): pass\ndef agent(o, c): pass", "appended-file"),
    "status in a list": ("ok = status in ['ERROR', 'Invalid']", "status-invalid"),
    "bare except": ("try:\n    T = open('/x').read()\nexcept:\n    T = ''", "hidden-fallback"),
    "tuple of exceptions": (
        "try:\n    T = np.load('/x')\nexcept (KeyError, OSError):\n    T = 0",
        "hidden-fallback",
    ),
    "shared library": ("try:\n    L = ctypes.CDLL('/x')\nexcept OSError:\n    L = None", "hidden-fallback"),
    "magic in the middle": ("x = 1\n!pip install numpy\n", "notebook-magic"),
    "stream imported": ("from sys import stderr", "kept-stream"),
    "stream bound": ("import sys\nERR = sys.stderr", "kept-stream"),
    "stream as default": ("def log(text, file=sys.stdout): pass", "kept-stream"),
    "null byte": ("x = 1\0", "syntax-error"),
}
NOT_SHOWN = {
    "string and comment": "# __file__, config.timeout\nX = '__file__ Invalid'[0]",
    "caught __file__": "try:\n    F = __file__\nexcept NameError:\n    F = ''",
    "standard library and numpy": "import os.path, numpy.linalg\nfrom collections import abc",
    "standard library inside agent": "def agent(o, c):\n    import time\n    return 0",
    "import again inside agent": "import mine\ndef agent(o, c):\n    import mine",
    "optional package": "try:\n    import numba\nexcept ImportError:\n    numba = None",
    "other timeouts": "q.get(timeout=3)\nsocket.timeout\nself.timeout = 2",
    "actTimeout": "def agent(o, config):\n    return config.actTimeout",
    "agent as a method": "class A:\n    def agent(self): pass\ndef agent(o, c): pass",
    "other status": "ok = status == 'INVALID'",
    "fallback told": "try:\n    T = open('/x').read()\nexcept OSError as e:\n    print(e, file=sys.stderr)",
    "raised again": "try:\n    T = open('/x').read()\nexcept OSError:\n    raise ValueError('no table')",
    "narrow": "try:\n    T = json.loads(s)\nexcept KeyError:\n    T = {}",
    "stream named where it is used": "import sys\nprint(1, file=sys.stderr)\ndef f():\n    e = sys.stderr",
    "stream imported in a function": "def f():\n    from sys import stderr",
    "question to the machine": "try:\n    F = open('/proc/cpuinfo').read()\nexcept OSError:\n    F = ''",
    "no loading": "try:\n    x = f()\nexcept Exception:\n    x = 0",
    "modulo": "x = 7\ny = (x\n%x)",
}


@pytest.mark.parametrize(("source", "expected"), SHOWN.values(), ids=SHOWN)
def test_shown(source: str, expected: str) -> None:
    found = read(source).seen
    assert set(found) == {expected}
    assert "line" in found[expected] or "null" in found[expected]


@pytest.mark.parametrize("source", NOT_SHOWN.values(), ids=NOT_SHOWN)
def test_not_shown(source: str) -> None:
    assert read(source, ["mine"]).seen == {}


def test_modules_packed_beside_it_are_its_own() -> None:
    assert read("import mine", ["mine"]).seen == {}
    assert set(read("def agent(o, c):\n    import mine", ["mine"]).seen) == {"import-inside-agent"}


def test_names_under_a_guard() -> None:
    source = (
        "if __name__ == '__main__':\n    import a.b, c as d\n    X = [i for i in Y]\n    def f(): pass\nZ = 1"
    )
    assert read(source).guarded == {"a", "d", "X", "i", "f"}


def test_spec_of_a_bundle() -> None:
    assert read("# A bundle\n# spec: n_step:N_STEPS=2\nx = 1").spec == "n_step:N_STEPS=2"
    assert read("x = '# spec: n_step'").spec is None


@pytest.mark.parametrize("depth", [900, 50_000])
def test_deep_nesting_is_read_or_left_to_python(depth: int) -> None:
    source = "X = " + " + ".join(["'a'"] * depth) + "\nY = __file__"
    assert set(read(source).seen) <= {"dunder-file"}
    if depth < 1000:
        assert read(source).seen


def test_many_places_are_counted() -> None:
    source = "def f(config):\n" + "    config.timeout\n" * 5
    places = [f"line {number} (config.timeout)" for number in (2, 3, 4)]
    assert read(source).seen == {"obsolete-timeout": ", ".join(places) + " and 2 more"}
