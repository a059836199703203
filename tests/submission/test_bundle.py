import json
import os
import random
import re
import subprocess
import symtable
import sys
import sysconfig
import time
import traceback
import warnings
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from kaggle_environments.agent import get_last_callable

from engine.board import Board
from evaluation.loading import known_agents, load_agent
from submission.bundle import BundleError, assemble, bundle, locate, write_bundle
from submission.source import Source, read_text
from tests.agents.observations import configure, observe

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
BUNDLES = sorted(path.name for path in (HERE / "bundles").iterdir())
APART = sorted(path.parent.name for path in (HERE / "bundles").glob("*/reason.txt"))
REFUSED = sorted(path.name for path in (HERE / "refused").iterdir())

# Both print, as JSON, what the agent answers to three observations.
ANSWERS = """
def answer(agent, number):
    try:
        return agent(number, None)
    except Exception as error:
        return type(error).__name__
print(json.dumps([answer(agent, number) for number in range(3)], default=repr))
"""
AS_A_PACKAGE = f"""
import json, sys
sys.path.insert(0, sys.argv[1])
from main import agent
{ANSWERS}
"""
AS_KAGGLE = f"""
import json, sys
namespace = {{}}
with open(sys.argv[1], encoding="utf-8") as file:
    exec(compile(file.read(), sys.argv[1], "exec"), namespace)
agent = [value for value in namespace.values() if callable(value)][-1]
assert agent is namespace["agent"]
{ANSWERS}
"""


def isolated(program: str, path: Path) -> Any:
    """What a Python prints that finds neither this repository nor the current folder."""
    command = [sys.executable, "-I", "-B", "-c", program, str(path)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd="/").stdout)


def write(folder: Path, **modules: str) -> Path:
    """Writes modules into `folder`, and returns the path of main.py there; `pkg__a` is pkg/a.py."""
    for name, text in modules.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "main.py"


def returning(expression: str) -> str:
    """An agent that returns the value of an expression."""
    return f"def agent(obs, config):\n    return {expression}\n"


def run(text: str) -> dict[str, Any]:
    """The namespace after a bundle has run in it, as Kaggle runs it."""
    namespace: dict[str, Any] = {}
    exec(compile(text, "main.py", "exec"), namespace)
    return namespace


@pytest.mark.parametrize("case", BUNDLES)
def test_a_bundle_does_what_the_package_does(case: str, tmp_path: Path) -> None:
    folder = HERE / "bundles" / case
    path = tmp_path / "main.py"
    path.write_text(assemble(folder / "main.py", [folder]).text, encoding="utf-8")
    assert isolated(AS_KAGGLE, path) == isolated(AS_A_PACKAGE, folder)


@pytest.mark.parametrize("case", sorted({*BUNDLES} - {*APART}))
def test_one_namespace_where_that_is_the_same_program(case: str) -> None:
    folder = HERE / "bundles" / case
    assert "MODULES" not in assemble(folder / "main.py", [folder]).text


@pytest.mark.parametrize("case", APART)
def test_the_header_says_why_modules_are_kept_apart(case: str) -> None:
    folder = HERE / "bundles" / case
    reason = re.search(
        "^# Each module keeps to itself: (.*)$", assemble(folder / "main.py", [folder]).text, re.MULTILINE
    )
    assert reason
    assert reason[1] == (folder / "reason.txt").read_text(encoding="utf-8").rstrip("\n")


@pytest.mark.parametrize("case", BUNDLES)
def test_kaggles_own_loader_chooses_the_agent(case: str) -> None:
    folder = HERE / "bundles" / case
    text = assemble(folder / "main.py", [folder]).text
    assert get_last_callable(text).__code__ == run(text)["agent"].__code__


@pytest.mark.parametrize("case", BUNDLES)
def test_every_line_of_the_sources_is_where_the_heading_says(case: str) -> None:
    folder = HERE / "bundles" / case
    made = assemble(folder / "main.py", [folder])
    lines = {
        place: line
        for number, line in enumerate(made.text.split("\n"), 1)
        if (place := locate(made.text, number))
    }
    for source in made.sources:
        imports = {line for node in source.edits for line in range(node.lineno, node.end_lineno + 1)}
        text = source.path.read_text(encoding="utf-8")
        is_escaped = made.sources[0].label == "submission/loader.py" and "'''" in text and '"""' in text
        for number, original in enumerate(text.splitlines(), 1):
            line = lines[source.label, number]
            if is_escaped:
                continue
            assert line == original or number in imports
            statement = original[max(0, original.find("from ")) :].strip()
            assert statement in line or ";" in original, "commented out, not deleted"


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    folder = HERE / "refused" / case
    with pytest.raises(BundleError) as error:
        assemble(folder / "main.py", [folder])
    assert str(error.value) == (folder / "refusal.txt").read_text(encoding="utf-8").rstrip("\n")
    assert re.fullmatch(r"[\w/]+\.py:\d+: [^;\n]+; [^\n]+", str(error.value)), "file:line: what; remedy"


def test_an_exception_in_a_bundle_is_traced_to_its_source(tmp_path: Path) -> None:
    main = write(
        tmp_path,
        main='"""An agent."""\nfrom helper import (\n    fail,\n)\n\n\n' + returning("fail(obs)"),
        helper="from __future__ import annotations\n\n\ndef fail(obs):\n    raise ArithmeticError(obs)\n",
    )
    text = assemble(main, [tmp_path]).text
    with pytest.raises(ArithmeticError) as error:
        run(text)["agent"](0, None)
    frames = traceback.extract_tb(error.value.__traceback__)
    assert [locate(text, frame.lineno or 0) for frame in frames[-2:]] == [("main.py", 8), ("helper.py", 5)]
    assert locate(text, 1) is None


def test_an_exception_in_a_module_kept_apart_is_traced_and_shown(tmp_path: Path) -> None:
    main = write(
        tmp_path,
        main='"""An agent."""\nimport helper\n\n\n' + returning("helper.fail(obs)"),
        helper="from __future__ import annotations\n\n\ndef fail(obs):\n    raise ArithmeticError(obs)\n",
    )
    path = tmp_path / "bundle.py"
    path.write_text(assemble(main, [tmp_path]).text)
    namespace: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    with pytest.raises(ArithmeticError) as error:
        namespace["agent"](0, None)
    frames = traceback.extract_tb(error.value.__traceback__)[-2:]
    assert [frame.filename for frame in frames] == [str(path)] * 2
    assert [frame.line for frame in frames] == ["return helper.fail(obs)", "raise ArithmeticError(obs)"]
    assert [locate(path.read_text(), frame.lineno or 0) for frame in frames] == [
        ("main.py", 6),
        ("helper.py", 5),
    ]


def test_bundles_in_one_process_share_nothing(tmp_path: Path) -> None:
    text = assemble(
        write(
            tmp_path,
            main="import helper_of_test as helper\n\n" + returning("helper.count()"),
            helper_of_test="calls = []\n\n\ndef count():\n    calls.append(0)\n    return len(calls)\n",
        ),
        [tmp_path],
    ).text
    modules = dict(sys.modules)
    first, second = run(text)["agent"], run(text)["agent"]
    assert [first(0, None), first(0, None), second(0, None)] == [1, 2, 1]
    assert sys.modules == modules


def test_the_header_names_spec_command_and_licence() -> None:
    header = bundle("n_step: PRESET='video', N_STEPS=2").partition("====")[0]
    assert "\n# spec: n_step:PRESET=video,N_STEPS=2\n" in header
    assert "\n# python -m submission bundle n_step:PRESET=video,N_STEPS=2 -o main.py\n" in header
    copyright_line = next(line for line in (REPOSITORY / "LICENSE").read_text().splitlines() if "(c)" in line)
    assert f"\n# {copyright_line}\n" in header
    assert "MIT" in header
    assert load_agent(re.findall("^# spec: (.*)$", header, re.MULTILINE)[0])


def test_constants_of_the_spec_are_replaced_in_place(tmp_path: Path) -> None:
    main = write(
        tmp_path,
        main="WEIGHTS = (\n    1,\n    2,\n)\n\n\ndef agent(obs, config):\n    return sum(WEIGHTS)\n",
    )
    text = assemble(main, [tmp_path], {"WEIGHTS": (3, 4)}).text
    assert run(text)["agent"](None, None) == 7
    assert "# spec: main.py:WEIGHTS=(3, 4)\n" in text
    assert [locate(text, number) for number, line in enumerate(text.split("\n"), 1) if "sum" in line] == [
        ("main.py", 8)
    ]


@pytest.mark.parametrize("name", known_agents())
def test_the_kits_agents_move_as_their_bundles_do(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bundled, package = get_last_callable(bundle(name)), load_agent(name)
    sizes = [(6, 7, 4)] * 12 + [(5, 4, 3)] * 6 + [(8, 9, 5)] * 3
    for seed, board in enumerate(positions(sizes)):
        moves = []
        for agent in (bundled, package):
            random.seed(seed)
            with monkeypatch.context() as patch:
                ticks = count()  # the machine's speed must not show in the moves
                patch.setattr(time, "perf_counter", lambda ticks=ticks: next(ticks) / 1000)
                moves.append(agent(observe(board), configure(board, act_timeout=0.2)))
        assert moves[0] == moves[1], board
        assert moves[0] in board.legal_moves()


def positions(sizes: list[tuple[int, int, int]]) -> Iterator[Board]:
    """A position of each size after a few random moves, with the game still going on."""
    lots = random.Random(2)
    for size in sizes:
        board = Board(*size)
        for _ in range(lots.randrange(12)):
            following = board.play(lots.choice(board.legal_moves()))
            board = board if following.is_over else following
        yield board


def test_the_same_bytes_from_anywhere(tmp_path: Path) -> None:
    made = []
    for number, folder in enumerate((REPOSITORY, tmp_path)):
        path = tmp_path / f"{number}.py"
        path.write_text("old text\n" * 5000)
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONHASHSEED": str(number + 1)}
        command = [sys.executable, "-m", "submission", "bundle", "n_step", "-o", str(path)]
        printed = subprocess.run(
            command, check=True, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
        )
        made.append(path.read_bytes())
        assert f"{path}: {path.stat().st_size:,} bytes" in printed.stdout
        assert re.search(r"agents/n_step\.py: [\d,]+ bytes, from line \d+\n", printed.stdout)
    assert made[0] == made[1] == bundle("n_step").encode()
    assert str(REPOSITORY).encode() not in made[0]
    assert str(tmp_path).encode() not in made[0]


def test_a_file_anywhere_may_use_the_kit_and_modules_beside_it(tmp_path: Path) -> None:
    main = write(
        tmp_path,
        main="from engine.board import Board\nfrom beside import pick\n\n"
        + returning("pick(Board.from_kaggle(obs, config))"),
        beside="def pick(board: object) -> int:\n    return board.legal_moves()[-1]\n",
    )
    text = bundle(str(main))
    assert re.findall("==== (.*): line N", text) == ["engine/board.py", "beside.py", "main.py"]
    assert str(tmp_path) not in text
    board = Board.from_moves("7777")
    assert run(text)["agent"](observe(board), configure(board)) == 6


def test_a_source_is_never_overwritten(tmp_path: Path) -> None:
    main = write(tmp_path, main="from beside import agent\n", beside=returning("0"))
    for name in ("main.py", "beside.py"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(BundleError, match="one of the bundle's sources"):
            write_bundle(str(main), tmp_path / name)
        assert (tmp_path / name).read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nobody"], "there is no agent 'nobody'"),
        (["n_step:DEPTH=3"], "no constant DEPTH"),
        (["kaggle:negamax"], "kaggle:negamax is Kaggle's own; bundle a module of agents/ or a file"),
        (["missing.py"], "missing.py: No such file"),
        (["n_step", "-o", "missing/main.py"], "cannot write missing/main.py"),
        (
            [str(HERE / "refused/third_party/main.py")],
            "refused/third_party/main.py:2: `torch` is no module here",
        ),
    ],
)
def test_a_persons_mistake_is_one_line_and_status_2(
    arguments: list[str], message: str, tmp_path: Path
) -> None:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-m", "submission", "bundle", *arguments]
    ended = subprocess.run(
        command, check=False, cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert message in ended.stderr
    assert ended.stderr.startswith("error: ")
    assert ended.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("start", "encoding", "line_end"),
    [
        ("", "utf-8", "\r\n"),
        ("", "utf-8-sig", "\n"),
        ("# coding: latin-1\n", "latin-1", "\n"),
        ("\f\n", "utf-8", "\r"),
    ],
    ids=["line ends of Windows", "byte order mark", "latin-1", "form feed and line ends of old"],
)
def test_encodings_and_line_ends(start: str, encoding: str, line_end: str, tmp_path: Path) -> None:
    main = write(tmp_path, helper="first = 'é'\n")
    source = start + "from helper import first; TEXT = '''größe\n'''\n\n" + returning("TEXT + first")
    main.write_bytes(source.replace("\n", line_end).encode(encoding))
    text = assemble(main, [tmp_path]).text
    assert run(text)["agent"](0, None) == "größe\né"
    assert not {"\r", "\ufeff"} & set(text)


@pytest.mark.parametrize("data", [b"", b"TEXT = 'gr\xf6\xdfe'\n", b"# coding: klingon\n", b"x = '\0'\n"])
def test_files_without_a_program_are_refused(data: bytes, tmp_path: Path) -> None:
    main = tmp_path / "main.py"
    main.write_bytes(data)
    with pytest.raises(BundleError, match=r"main\.py:1: .*; "):
        assemble(main, [tmp_path])


def test_a_module_under_two_names_runs_twice_as_in_python(tmp_path: Path) -> None:
    main = write(
        tmp_path,
        main="from a import first\nfrom pkg.a import first as second\n\n" + returning("first is second"),
        pkg__a="first = object()\n",
    )
    text = assemble(main, [tmp_path, tmp_path / "pkg"]).text
    assert run(text)["agent"](None, None) is False


def test_a_script_is_no_module(tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text(returning("3"))
    with pytest.raises(BundleError, match=r"__main__\.py:1: a module of this name runs as a script; rename"):
        assemble(tmp_path / "__main__.py", [tmp_path])


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    write(tmp_path / "other", main="first = 1\n")
    main = write(tmp_path, main="from main import first\n\n" + returning("first"))
    with pytest.raises(BundleError, match=r"main.py:1: .*rename"):
        assemble(main, [tmp_path / "other", tmp_path])


def test_scopes_agree_with_pythons_own_tables() -> None:
    paths = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("[a-z]*.py"))[::3]
    assert len(paths) > 40
    for path in paths:
        source = Source(path, path.name, path.stem, read_text(path, path.name))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = symtable.symtable(source.text, path.name, "exec")
        ours = {binding.name for binding in source.bindings} - {"*"}
        declared = set(declared_global(table))
        assert (
            ours - declared
            == {
                symbol.get_name()
                for symbol in table.get_symbols()
                if symbol.is_assigned() or symbol.is_imported()
            }
            - declared
        )


def declared_global(table: symtable.SymbolTable) -> Iterator[str]:
    for child in table.get_children():
        yield from (symbol.get_name() for symbol in child.get_symbols() if symbol.is_declared_global())
        yield from declared_global(child)
