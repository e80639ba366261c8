# SPDX-License-Identifier: Apache-2.0
"""Small source trees that a worker can record: packages with the calls it uses, and one example."""

from __future__ import annotations

from pathlib import Path

CONSTANT = "12288"
_FILES = {
    "__init__.py": "",
    "errors.py": "class NpuforgeError(Exception):\n    pass\n",
    "cli.py": """\
from pathlib import Path


def main(argv):
    Path(argv[argv.index("--json") + 1]).write_text('{"correct": true, "seconds": 1.0}')
    return 0
""",
    "generate.py": """\
from types import SimpleNamespace


def generate(*given, **named):
    return SimpleNamespace(verdict=SimpleNamespace(ok=True))
""",
    "lower/__init__.py": "",
    "lower/compiler.py": """\
from pathlib import Path

Lowered = str


def lower(source, soc):
    with (Path(__file__).parents[3] / "calls.txt").open("a") as calls:
        calls.write("lower\\n")
    return source
""",
    "lower/formats.py": f"""\
def emit(lowered, form):
    return {{"op_kernel/one.cpp": "const int64_t bytes = {CONSTANT};\\n"}}
""",
    "lower/tiling.py": """\
from types import SimpleNamespace


def compute_tiling(lowered, shapes, attributes):
    return SimpleNamespace(
        blocks=1, key=0, workspace_bytes=0, output_shapes={}, values={"bytes": 3}
    )
""",
    "plan/__init__.py": "Plan = object\n",
    "plan/planner.py": "def plan(graph, soc):\n    return None\n",
    "spec/__init__.py": "",
    "spec/graph.py": "Graph = object\n",
}


def make_tree(folder: Path, constant: str = CONSTANT) -> Path:
    """Write a tree whose kernels hold a constant."""
    package = folder / "src" / "npuforge"
    for name, text in _FILES.items():
        file = package / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace(CONSTANT, constant))
    example = folder / "examples" / "tile" / "softmax.py"
    example.parent.mkdir(parents=True)
    example.write_text("# a program\n")
    return folder


def calls_of(tree: Path) -> int:
    """Count how often the tree's compiler was called."""
    calls = tree / "calls.txt"
    return len(calls.read_text().splitlines()) if calls.exists() else 0
