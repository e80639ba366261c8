# SPDX-License-Identifier: Apache-2.0
"""What asc-devkit's examples are (vector, cube, another architecture, ...) and how each is run.

The commands are the README's: a block of shell lines that builds and starts the program is a case,
and every value its table of options lists for the scenario is a case of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

VECTOR = "vector"
_FAMILY = "01_simd_cpp_api"
_OTHER_FAMILIES = {
    "02_simd_c_api": "C API",
    "03_simt_api": "SIMT",
    "04_aicpu": "AI CPU",
    "05_simd_simt_hybrid": "SIMT",
}
_SOURCES = {".asc", ".cpp", ".h"}
_PRODUCT = re.compile(r"^\s*(?:\||[-*])\s*Atlas A2", re.MULTILINE)
_CUBE = re.compile(
    r"__cube__|__mix__|\b(?:Mmad|Matmul|MatmulImpl|LoadData|Fixpipe)\b|lib/matmul_intf"
)
_FRAMEWORK = re.compile(r'#\s*include\s*[<"](torch|pybind11|ge|graph|register/\w+_plugin)[/.]')
_MAIN = re.compile(r"\bmain\s*\(")

_BLOCK = re.compile(r"^\s*```(?:bash|shell)\s*\n(.*?)^\s*```", re.MULTILINE | re.DOTALL)
_ASSIGNMENT = re.compile(r"^\s*([A-Z][A-Z_]*)=(\w+)", re.MULTILINE)
_OPTION = re.compile(r"-D([A-Z][A-Z_]*)=([^\s;]+)")
_SCRIPT = re.compile(r"^\s*(python3? \.\./scripts/(\w+)\.py[^#;\n]*)", re.MULTILINE)
_PROGRAM = re.compile(r"^\s*(?:\w+ )?\./\w+([^#;\n]*)", re.MULTILINE)
_VALUES = re.compile(r"^\s*\| *`?([A-Z][A-Z_]*)`? *\|([^|]*)\|", re.MULTILINE)
_TABLE = re.compile(r"<caption>[^<]*?([A-Z][A-Z_]+)参数[^<]*</caption>(.*?)</table>", re.DOTALL)
_ROW = re.compile(r"<tr><td[^>]*>(\d+)</td>")
_RANGE = re.compile(r"(\d+)`?\s*[-~]\s*`?(\d+)")
_NAME = re.compile(r"\$\{?([A-Z][A-Z_]*)\}?")
_MACRO = re.compile(r"(?:-D|(?<![-\w]))([A-Z]\w*)=\$\{(\w+)\}")
_ARCHITECTURE = "2201"
_FOR_ARCHITECTURE = re.compile(rf"\bset\((\w+) {_ARCHITECTURE}\)")
# "only on ... 3510 / 950"
_ELSEWHERE = re.compile(r"仅(?:支持|在)[^。\n]*(?:3510|950)")


@dataclass(frozen=True)
class Case:
    """One way to build and run an example."""

    name: str
    defines: dict[str, str | None] = field(default_factory=dict)
    setup: str | None = None
    arguments: tuple[str, ...] = ()
    verify: str | None = None


@dataclass(frozen=True)
class Example:
    folder: Path
    name: str
    kind: str
    reason: str
    cases: tuple[Case, ...] = ()


def find_examples(checkout: Path) -> Iterator[Example]:
    """Every example with its kind and the reason for it."""
    root = checkout / "examples"
    folders = {source.parent for source in root.rglob("*.asc")}
    for listed in root.rglob("CMakeLists.txt"):
        inside = any(parent in folders for parent in (listed.parent, *listed.parents))
        if not inside and "project(" in text_of(listed):
            folders.add(listed.parent)
    for folder in sorted(folders):
        name = str(folder.relative_to(root))
        kind, reason = classify(folder, name)
        readme = text_of(folder / "README.md")
        cases = tuple(read_cases(readme, text_of(folder / "CMakeLists.txt")))
        yield Example(folder, name, kind, reason, cases if kind == VECTOR else ())


def classify(folder: Path, name: str) -> tuple[str, str]:
    """The example's kind and why."""
    family = name.split("/", maxsplit=1)[0]
    readme = text_of(folder / "README.md")
    sources = [path for path in folder.iterdir() if path.suffix in _SOURCES]
    text = "".join(text_of(path) for path in sources)
    if not any(path.suffix == ".asc" for path in sources):
        return "operator package", "built and called through generated interfaces, no kernel launch"
    if not _PRODUCT.search(readme):
        return "other architecture", "its README does not list Atlas A2 among the products"
    if family != _FAMILY:
        return "other programming model", _OTHER_FAMILIES.get(family, family)
    cube = _CUBE.search(text)
    if cube is not None:
        return "cube", f"uses {cube.group(0)}"
    framework = _FRAMEWORK.search(text)
    if framework is not None:
        return "framework", f"is called from a framework ({framework.group(1)})"
    if not _MAIN.search(text):
        return "framework", "has no main function"
    return VECTOR, ""


def read_cases(readme: str, cmake: str) -> Iterator[Case]:
    """The cases the README describes, first the one it shows."""
    found = False
    for block in _BLOCK.findall(readme):
        if "cmake" in block and "RUN_MODE=" not in block and _PROGRAM.search(block):
            found = True
            yield from _block_cases(block, readme, cmake)
    if not found:
        yield Case("")


def _block_cases(block: str, readme: str, cmake: str) -> Iterator[Case]:
    variables = dict(_ASSIGNMENT.findall(block))
    options = {
        name: value for name, value in _OPTION.findall(block) if not name.startswith("CMAKE")
    }
    listed = {name: _ROW.findall(table) for name, table in _TABLE.findall(readme)}
    listed |= {name: _numbers(values) for name, values in _VALUES.findall(readme)}
    for name, value in options.items():
        # A scenario written into the command itself is a variable like any other.
        if value.isdigit() and listed.get(name):
            variables[name], options[name] = value, f"${name}"
    choice = next((name for name in variables if listed.get(name)), None)
    if choice is None:
        yield _case("", block, variables, options, cmake)
        return
    for value in listed[choice]:
        if not _for_other_hardware(choice, value, readme):
            name = f"{choice.lower()} {value}"
            yield _case(name, block, {**variables, choice: value}, options, cmake)


def _case(
    name: str, block: str, variables: dict[str, str], options: dict[str, str], cmake: str
) -> Case:
    def filled(text: str) -> str:
        return _NAME.sub(lambda match: variables.get(match[1], match[0]), text).strip()

    defines: dict[str, str | None] = {}
    known = options | dict.fromkeys(_FOR_ARCHITECTURE.findall(cmake), _ARCHITECTURE)
    for macro, option in _MACRO.findall(cmake):
        if option in known:
            defines[macro] = filled(known[option])
    for option in options:
        if re.search(rf"compile_definitions\(\s*\w+ \w+ {option}\s*\)", cmake):
            defines[option] = None
    commands: dict[str, str] = {}
    for command, script in _SCRIPT.findall(block):
        here = filled(command.replace("../scripts", "scripts"))
        commands.setdefault("verify" if "verify" in script else "setup", here)
    program = _PROGRAM.search(block)
    arguments = tuple(filled(program.group(1)).split()) if program is not None else ()
    shown = name or " ".join(option for option, value in options.items() if value == "ON")
    return Case(shown, defines, commands.get("setup"), arguments, commands.get("verify"))


def _numbers(values: str) -> list[str]:
    span = _RANGE.search(values)
    if span is not None:
        return [str(value) for value in range(int(span.group(1)), int(span.group(2)) + 1)]
    return re.findall(r"`(\d+)`", values)


def _for_other_hardware(choice: str, value: str, readme: str) -> bool:
    """Whether a sentence or table row says that the scenario exists on other hardware only."""
    named = re.compile(rf"场景{value}(?!\d)|^\s*<tr><td>{value}</td>|{choice}.*`{value}`")
    return any(
        named.search(line) and _ELSEWHERE.search(line)
        for line in readme.splitlines()
        if not line.lstrip().startswith("|")
    )


def text_of(path: Path) -> str:
    return path.read_text("utf-8", errors="replace") if path.is_file() else ""
