# SPDX-License-Identifier: Apache-2.0
"""First pass: text to the syntax tree of a tile program.

The text is Python, parsed and never executed. What the language does not have (imports, classes,
attribute access, comprehensions, ...) is refused here, each with its place, so that later passes
meet only known constructs.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass

from npuforge import syntax
from npuforge.tile.source import Findings, Span, TileError

MOST_CHARACTERS = 400_000
MOST_DEPTH = 60

LANGUAGE_IMPORT = "import tile.language as tl"
KERNEL_DECORATOR = "ascend_kernel"


@dataclass(frozen=True, slots=True)
class ParsedProgram:
    """The functions of a program, still as Python syntax."""

    kernels: Mapping[str, ast.FunctionDef]
    host: ast.FunctionDef
    constants: Mapping[str, ast.expr]
    comments: Mapping[int, str]
    source: str

    def text(self) -> str:
        """The program in normal form, without comments."""
        lines = [LANGUAGE_IMPORT, ""]
        lines += [f"{name} = {ast.unparse(value)}" for name, value in self.constants.items()]
        for function in (*self.kernels.values(), self.host):
            lines += ["", "", ast.unparse(function)]
        return "\n".join(lines) + "\n"


_STATEMENTS = (
    ast.FunctionDef, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.If, ast.With,
    ast.Expr, ast.Pass, ast.Import,
)  # fmt: skip
_EXPRESSIONS = (
    ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.Call,
    ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple,
)  # fmt: skip
_OTHERS = (
    ast.Module, ast.arguments, ast.arg, ast.keyword, ast.alias, ast.withitem, ast.Load, ast.Store,
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.USub, ast.UAdd, ast.Not,
    ast.And, ast.Or, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE,
)  # fmt: skip
_KNOWN = frozenset((*_STATEMENTS, *_EXPRESSIONS, *_OTHERS))
_PLAIN_FIELDS = frozenset({"ctx", "id", "attr", "arg", "name", "asname", "kind", "type_comment"})
_NODE_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}
# Nodes that hold nothing to look at.
_BARE = frozenset(_OTHERS[7:])
_BRACKET = re.compile(r"[(\[{)\]}]")
_ATTRIBUTES_OF_TENSORS = frozenset({"shape", "numel"})


def parse(text: str | bytes) -> ParsedProgram:
    """The functions of the program in `text`; raises `TileError` with every construct refused."""
    source = _decoded(text)
    return functions(constructs(source), source)


def constructs(source: str) -> ast.Module:
    """The syntax tree of a text that has only what the language has; `TileError` otherwise."""
    _limit_size(source)
    tree = _python(source)
    findings = Findings()
    _limit_constructs(tree, findings)
    findings.stop_if_any()
    return tree


def functions(tree: ast.Module, source: str) -> ParsedProgram:
    """The kernels and the host function of a tree; `TileError` where they are not as they must."""
    findings = Findings()
    program = _functions(tree, source, findings)
    findings.stop_if_any()
    assert program is not None
    return program


def _decoded(text: str | bytes) -> str:
    if isinstance(text, str):
        return text
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _error(f"byte {error.start} is not UTF-8 text") from None


def _limit_size(source: str) -> None:
    if len(source) > MOST_CHARACTERS:
        raise _error(f"{len(source)} characters; a program has at most {MOST_CHARACTERS}", "TL-14")
    if "\0" in source:
        raise _error("the text has a NUL character")
    depth = 0
    for bracket in _BRACKET.finditer(source):
        if bracket[0] in "([{":
            depth += 1
            if depth > MOST_DEPTH:
                line = source.count("\n", 0, bracket.start()) + 1
                raise _error(f"brackets nest deeper than {MOST_DEPTH}", "TL-14", line)
        else:
            depth = max(0, depth - 1)


def _python(source: str) -> ast.Module:
    try:
        return syntax.parse(source)
    except SyntaxError as error:
        raise _error(f"not Python: {error.msg}", line=error.lineno or 1) from None
    except (RecursionError, MemoryError):
        raise _error("nested too deeply to be read", "TL-14") from None
    except ValueError as error:  # a number with thousands of digits
        raise _error(f"not Python: {error}") from None


def _error(message: str, rule: str = "TL-01", line: int = 1) -> TileError:
    findings = Findings()
    findings.add(rule, Span(line, 1, line, 1), message)
    try:
        findings.stop_if_any()
    except TileError as error:
        return error
    raise AssertionError(message)


def _limit_constructs(tree: ast.Module, findings: Findings) -> None:
    stack: list[tuple[ast.AST, int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > MOST_DEPTH:
            findings.add("TL-14", node, f"nested deeper than {MOST_DEPTH} levels")
            return
        kind = type(node)
        if kind not in _KNOWN:
            findings.add("TL-01", node, f"the language has no {_called(node)}")
            continue  # what is inside is no further error
        if kind in _BARE:
            continue
        if kind is not ast.Name and kind is not ast.Constant:
            depth += 1
            stack += [(child, depth) for child in _children(node)]
            depth -= 1
        if isinstance(node, ast.Attribute):
            _check_attribute(node, findings)
        elif isinstance(node, ast.Constant):
            _check_constant(node, findings)
        elif isinstance(node, ast.FunctionDef) and depth > 1:
            findings.add("TL-01", node, "a function inside a function")
        elif isinstance(node, ast.Name) and node.id.startswith("__"):
            findings.add("TL-01", node, f"{node.id!r} is not a name of the language")
        elif isinstance(node, ast.Import) and ast.unparse(node) != LANGUAGE_IMPORT:
            findings.add("TL-01", node, f"only {LANGUAGE_IMPORT!r} may be imported")


def _children(node: ast.AST) -> list[ast.AST]:
    """`ast.iter_child_nodes` in a hurry: fields that never hold nodes are not looked at."""
    kind = type(node)
    if kind not in _NODE_FIELDS:
        _NODE_FIELDS[kind] = tuple(name for name in kind._fields if name not in _PLAIN_FIELDS)
    found: list[ast.AST] = []
    for name in _NODE_FIELDS[kind]:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def _called(node: ast.AST) -> str:
    name = type(node).__name__
    return {
        "ImportFrom": "from-import", "ClassDef": "class", "Lambda": "lambda", "While": "while loop",
        "ListComp": "comprehension", "SetComp": "comprehension", "DictComp": "comprehension",
        "GeneratorExp": "comprehension", "Try": "try", "Return": "return", "Raise": "raise",
        "Global": "global", "Nonlocal": "nonlocal", "Delete": "del", "Await": "await",
        "AsyncFunctionDef": "async function", "Yield": "yield", "JoinedStr": "f-string",
        "Assert": "assert (use tl.require in the host function)", "Starred": "starred argument",
        "NamedExpr": "assignment expression", "Break": "break", "Continue": "continue",
        "List": "list", "Dict": "dict", "Set": "set", "Pow": "** operator (use tl.pow)",
    }.get(name, name)  # fmt: skip


def _check_attribute(node: ast.Attribute, findings: Findings) -> None:
    if not isinstance(node.value, ast.Name):
        findings.add("TL-01", node, f"attribute {node.attr!r} of an expression")
    elif node.attr.startswith("_"):
        findings.add("TL-01", node, f"attribute {node.attr!r}")
    elif node.value.id != "tl" and node.attr not in _ATTRIBUTES_OF_TENSORS:
        findings.add("TL-01", node, f"attribute {node.attr!r} of {node.value.id!r}")


def _check_constant(node: ast.Constant, findings: Findings) -> None:
    value = node.value
    if value is None or isinstance(value, bool | float | str):
        return
    if not isinstance(value, int):
        findings.add("TL-01", node, f"a literal of type {type(value).__name__}")
    elif abs(value) >= 1 << 63:
        findings.add("TL-14", node, "a whole number that does not fit 64 bits")


def _functions(tree: ast.Module, source: str, findings: Findings) -> ParsedProgram | None:
    kernels: dict[str, ast.FunctionDef] = {}
    hosts: list[ast.FunctionDef] = []
    constants: dict[str, ast.expr] = {}
    for index, node in enumerate(tree.body):
        match node:
            case ast.FunctionDef():
                _check_signature(node, findings)
                if node.name in kernels or any(host.name == node.name for host in hosts):
                    findings.add("TL-02", node, f"two functions are called {node.name!r}")
                if not node.decorator_list:
                    hosts.append(node)
                elif [ast.unparse(item) for item in node.decorator_list] == [KERNEL_DECORATOR]:
                    kernels[node.name] = node
                else:
                    findings.add("TL-02", node, f"a decorator other than @{KERNEL_DECORATOR}")
            case ast.Assign(targets=[ast.Name(name)], value=value):
                constants[name] = value
            case ast.Import():
                pass
            case ast.Expr(value=ast.Constant(value=str())) if index == 0:
                pass
            case _:
                findings.add("TL-02", node, "only functions and constants stand at top level")
    if not kernels:
        findings.add("TL-02", tree, f"no kernel: a function with @{KERNEL_DECORATOR}")
    if not hosts:
        findings.add("TL-02", tree, "no host function: the one without a decorator")
    for extra in hosts[1:]:
        findings.add("TL-02", extra, f"a second host function {extra.name!r}")
    if not hosts:
        return None
    return ParsedProgram(kernels, hosts[0], constants, _comments(source), source)


def _check_signature(node: ast.FunctionDef, findings: Findings) -> None:
    arguments = node.args
    if (
        arguments.posonlyargs
        or arguments.kwonlyargs
        or arguments.vararg
        or arguments.kwarg
        or arguments.defaults
    ):
        findings.add("TL-01", node, "parameters are plain names, without defaults or stars")


def _comments(source: str) -> dict[int, str]:
    """Comment text by line; they explain tiling choices and travel into the emitted code."""
    found: dict[int, str] = {}
    lines = source.splitlines()
    marked = [(number, line) for number, line in enumerate(lines, 1) if "#" in line]
    if not any(quote in line for _, line in marked for quote in "\"'"):
        # Without quotes nearby every "#" starts a comment; tokens would say the same, slowly.
        return {number: line.partition("#")[2].strip("# ") for number, line in marked}
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                found[token.start[0]] = token.string.lstrip("# ").rstrip()
    except (tokenize.TokenError, IndentationError):
        return {}
    return found
