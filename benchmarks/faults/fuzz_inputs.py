# SPDX-License-Identifier: Apache-2.0
"""Feed malformed launch files, answers, tile programs and command lines to the command line.

    python benchmarks/faults/fuzz_inputs.py [--examples 2000] [--kind launch]

Each input must end within a bound of time with status 0, 1, 2 or 4; status 2 comes with one line
on standard error, and nothing raises. Kernels are not built: every input is given to a source that
is refused before, or with a broken one. Exits 1 where an input breaks the rule, and prints it.
"""

from __future__ import annotations

import contextlib
import io
import json
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import click
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from npuforge.cli import main

_SECONDS = 60
_STATUS = (0, 1, 2, 4)
_KEYS = [
    "blocks",
    "key",
    "argument",
    "input",
    "output",
    "attrs",
    "expected",
    "reference",
    "tolerance",
    "case",
    "entry",
    "defines",
    "name",
    "shape",
    "dtype",
    "role",
    "data",
    "kind",
    "value",
    "fields",
    "file",
    "hex",
    "bytes",
    "tensors",
    "rtol",
    "atol",
    "mismatches",
    "low",
    "high",
]
_WORDS = [
    "tensor",
    "scalar",
    "workspace",
    "tiling",
    "list",
    "absent",
    "in",
    "out",
    "inout",
    "random",
    "normal",
    "zeros",
    "arange",
    "full",
    "values",
    "float32",
    "int8",
    "bfloat16",
    "complex64",
    "x.bin",
    "x.npy",
    "../x",
    "/dev/zero",
    "k.cpp::f",
    "pipe.bin",
    "a\nb",
    "\x00",
    "",
]
_NUMBERS = st.one_of(
    st.integers(-3, 9),
    st.sampled_from([2**31, 2**63, 2**64, 10**40, -(10**40)]),
    st.floats(allow_nan=True, allow_infinity=True),
)
_LEAVES = st.one_of(
    st.none(), st.booleans(), _NUMBERS, st.sampled_from(_WORDS), st.text(max_size=12)
)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(_KEYS), inner, max_size=5),
    ),
    max_leaves=20,
)
_ARGUMENT = st.fixed_dictionaries(
    {"name": st.sampled_from(["x", "y", "x[0]"])},
    optional={
        "kind": st.sampled_from(["tensor", "scalar", "workspace", "tiling", "list", "absent"])
        | _LEAVES,
        "shape": st.lists(st.integers(0, 4), max_size=3) | _VALUES,
        "dtype": st.sampled_from(["float32", "int8", "bfloat16", "bool"]) | _LEAVES,
        "role": st.sampled_from(["in", "out", "inout"]) | _LEAVES,
        "data": _VALUES,
        "value": _LEAVES,
        "fields": st.lists(st.lists(_LEAVES, min_size=3, max_size=3), max_size=3) | _VALUES,
        "hex": _LEAVES,
        "bytes": _NUMBERS,
        "tensors": _VALUES,
    },
)
_LAUNCH = st.fixed_dictionaries(
    {"blocks": st.just(1) | _LEAVES},
    optional={
        "argument": st.lists(_ARGUMENT, max_size=3) | _VALUES,
        "input": st.lists(_ARGUMENT, max_size=2) | _VALUES,
        **dict.fromkeys(_KEYS[5:14], _VALUES),
    },
)
_SIX = "project_json_src host_tiling_src host_operator_src kernel_src python_bind_src model_src"
_TILE = st.lists(
    st.sampled_from(
        [
            "import npuforge.tile as tl",
            "@tl.kernel",
            "def k(x, y):",
            "@tl.host",
            "    for i in range(n):",
            "    x = tl.load(x, 9**9**9)",
            "    return",
            "    tl.store(y, x)",
            "class A: pass",
            ")",
            "'''",
            "\\",
            "    x = ((((((((((1))))))))))",
            "lambda: 0",
            "\x00",
            "    if x: pass",
            "é = 1",
        ]
    )
    | st.text(max_size=20),
    max_size=12,
).map("\n".join)


@st.composite
def launch_files(draw: st.DrawFn) -> tuple[dict[str, str], list[str]]:
    """Return a launch file for a kernel that is there."""
    name = draw(st.sampled_from(["l.yaml", "l.toml"]))
    if draw(st.booleans()):
        text = json.dumps(draw(_LAUNCH))  # JSON is YAML; the TOML reader has to refuse most of it
    else:
        text = draw(st.text(max_size=60) | st.sampled_from(["[" * 9000, "a = " + "9" * 5000]))
    return {"k.cpp": "nothing", name: text}, ["check", "k.cpp", "--launch", name]


@st.composite
def answer_files(draw: st.DrawFn) -> tuple[dict[str, str], list[str]]:
    """Return an answer in one of the two formats."""
    if draw(st.booleans()):
        document = draw(
            _VALUES
            | st.fixed_dictionaries(
                {},
                optional={
                    "sources": _VALUES
                    | st.lists(
                        st.fixed_dictionaries({"path": _LEAVES, "content": _LEAVES}), max_size=3
                    ),
                    "entry": _VALUES | st.fixed_dictionaries({"model": _LEAVES}),
                    "build": _VALUES,
                },
            )
        )
        return {"a.json": json.dumps(document)}, ["check", "a.json", "--launch", "none.py"]
    described = json.dumps(draw(_VALUES | st.lists(st.fixed_dictionaries({"op": _LEAVES}))))
    lines = [f"{name} = {draw(st.text(max_size=8))!r}" for name in _SIX.split()[1:]]
    lines.append(
        draw(st.sampled_from([f"project_json_src = {described!r}", "project_json_src = 1"]))
    )
    lines.append(draw(st.text(max_size=20) | st.just("x = " + "(" * 500)))
    return {"a.py": "\n".join(lines)}, ["check", "a.py", "--launch", "none.py"]


@st.composite
def tile_programs(draw: st.DrawFn) -> tuple[dict[str, str], list[str]]:
    """Return a tile program to lower."""
    return {"p.py": draw(_TILE)}, ["lower", "p.py"]


@st.composite
def command_lines(draw: st.DrawFn) -> tuple[dict[str, str], list[str]]:
    """Return words for a command that would need files which are not there."""
    words = st.sampled_from(
        [
            "--launch",
            "--soc",
            "--entry",
            "--setup",
            "--verify",
            "--json",
            "--trace",
            "--golden",
            "--include",
            "-I",
            "k.cpp",
            "l.toml",
            "none.cpp",
            "pipe.cpp",
            "/dev/null",
            ".",
            "..",
            "910b2",
            "-",
            "--",
            "--no-auto-sync",
        ]
    ) | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=10)
    command = draw(st.sampled_from(["run", "check", "profile", "lower", "compare"]))
    return {"k.cpp": "nothing", "l.toml": "blocks = 1"}, [
        command,
        *draw(st.lists(words, max_size=5)),
    ]


KINDS: dict[str, Callable[[], st.SearchStrategy[tuple[dict[str, str], list[str]]]]] = {
    "launch": launch_files,
    "answer": answer_files,
    "tile": tile_programs,
    "command": command_lines,
}


@contextlib.contextmanager
def _bounded() -> Iterator[None]:
    def late(*_: object) -> None:
        raise TimeoutError(f"no end within {_SECONDS} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def problem(files: dict[str, str], words: list[str]) -> str | None:
    """Return what is wrong with how the command ends; None for nothing."""
    errors = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, text in files.items():
            Path(name).write_bytes(text.encode("utf-8", errors="surrogatepass"))
        try:
            with (
                _bounded(),
                contextlib.redirect_stderr(errors),
                contextlib.redirect_stdout(io.StringIO()),
            ):
                status = main(words)
        except BaseException:
            return traceback.format_exc()
    said = errors.getvalue().splitlines()
    if status not in _STATUS:
        return f"status {status}: {said[-3:]}"
    if status == 2 and len(said) != 1:
        return f"status 2 with {len(said)} lines: {said[:3]}"
    return None


def fuzz(kind: str, examples: int) -> list[str]:
    """Return the first broken input of a kind, in words; nothing if all hold."""

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(KINDS[kind]())
    def holds(given_input: tuple[dict[str, str], list[str]]) -> None:
        wrong = problem(*given_input)
        assert wrong is None, f"{given_input!r}\n{wrong}"

    try:
        holds()
    except AssertionError as failure:
        return [f"{kind}: {failure}"]
    return []


@click.command()
@click.option("--examples", default=2000, show_default=True, help="inputs in all")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(list(KINDS)))
def command(examples: int, kinds: tuple[str, ...]) -> None:
    """Fuzz every kind of input, or those that are named."""
    chosen = kinds or tuple(KINDS)
    broken = [text for kind in chosen for text in fuzz(kind, examples // len(chosen))]
    for text in broken:
        click.echo(text)
    click.echo(f"{examples} inputs, {len(broken)} kinds with a broken one")
    sys.exit(bool(broken))


if __name__ == "__main__":
    command()
