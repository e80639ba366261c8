# SPDX-License-Identifier: Apache-2.0
"""Places where a regular expression is applied to a text.

A place is a function of `re` (`re.sub`), or a method of a compiled pattern (`_NAME.sub`), called or
handed on. A name is a compiled pattern if `re.compile` is assigned to it or its annotation says
`Pattern`, in its own module or in the module that it is imported from; so is an attribute, and a
loop's variable over a literal of such. `re.compile` and `re.escape` apply nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from tools.counters.tree import Place, Source

_METHODS = frozenset(
    ("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
)


def applied(sources: Sequence[Source]) -> dict[str, list[Place]]:
    """List the places by the path of their file."""
    compiled = {source.module: _compiled(source) for source in sources}
    return {
        source.path: sorted(
            _places(source, compiled[source.module] | _imported(source, compiled)),
            key=lambda place: place.line,
        )
        for source in sources
    }


def _places(source: Source, compiled: set[str]) -> Iterator[Place]:
    modules, functions = _names_of_re(source)
    for node in source.nodes(ast.Attribute):
        if node.attr in _METHODS:
            base, name = node.value, _name(node.value)
            if name in compiled or name in modules or _is_compile(base, modules, functions):
                yield Place(source.path, node.lineno, f"{name or 're.compile()'}.{node.attr}")
    for word in source.nodes(ast.Name):
        if functions.get(word.id, "") in _METHODS:
            yield Place(source.path, word.lineno, f"re.{functions[word.id]}")


def _names_of_re(source: Source) -> tuple[set[str], dict[str, str]]:
    """Return the names of the module `re`, and its functions by the names they have here."""
    modules = {
        item.asname or item.name
        for node in source.nodes(ast.Import)
        for item in node.names
        if item.name == "re"
    }
    functions = {
        item.asname or item.name: item.name
        for node in source.nodes(ast.ImportFrom)
        if node.module == "re"
        for item in node.names
    }
    return modules, functions


def _compiled(source: Source) -> set[str]:
    """Return the names and attributes (with a dot before them) that are compiled patterns."""
    modules, functions = _names_of_re(source)
    names: set[str] = set()
    holders: dict[str, ast.expr] = {}
    for target, value in _assigned(source):
        if _is_compile(value, modules, functions):
            names.add(_name(target))
        elif isinstance(value, ast.Tuple | ast.List | ast.Dict):
            holders[_name(target)] = value
    names |= {node.arg for node in source.nodes(ast.arg) if _says_pattern(node.annotation)}
    for field in source.nodes(ast.AnnAssign):
        if _says_pattern(field.annotation):
            names.add(_name(field.target))
    loops = [(loop.target, loop.iter) for loop in source.nodes(ast.For)]
    loops += [(loop.target, loop.iter) for loop in source.nodes(ast.comprehension)]
    for target, over in loops:
        literal = _holder(over, holders)
        if literal is not None:
            names |= _patterns_in(target, literal, modules, functions)
    # A name of a class is read as an attribute.
    return (names | {f".{name}" for name in names if name[:1] != "."}) - {"", "."}


def _assigned(source: Source) -> Iterator[tuple[ast.expr, ast.expr]]:
    for node in source.nodes(ast.Assign):
        for target in node.targets:
            yield target, node.value
    for field in source.nodes(ast.AnnAssign):
        if field.value is not None:
            yield field.target, field.value


def _holder(over: ast.expr, holders: dict[str, ast.expr]) -> ast.expr | None:
    """Return the literal that a loop runs over: itself, or that of a name."""
    if isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute):
        literal = holders.get(_name(over.func.value))
        if isinstance(literal, ast.Dict) and over.func.attr == "items":
            pairs = zip(literal.keys, literal.values, strict=True)
            return ast.Tuple([ast.Tuple([key or value, value]) for key, value in pairs])
        return None
    if isinstance(over, ast.Tuple | ast.List):
        return over
    return holders.get(_name(over))


def _patterns_in(
    target: ast.expr, over: ast.expr, modules: set[str], functions: dict[str, str]
) -> set[str]:
    """Return the loop's variables that stand where the items have a compiled pattern."""
    items = over.elts if isinstance(over, ast.Tuple | ast.List) else []
    if not isinstance(target, ast.Tuple):
        found = any(_is_compile(item, modules, functions) for item in items)
        return {_name(target)} if found else set()
    rows = [item.elts for item in items if isinstance(item, ast.Tuple)]
    return {
        _name(part)
        for at, part in enumerate(target.elts)
        if any(at < len(row) and _is_compile(row[at], modules, functions) for row in rows)
    }


def _imported(source: Source, compiled: dict[str, set[str]]) -> set[str]:
    return {
        item.asname or item.name
        for node in source.nodes(ast.ImportFrom)
        for item in node.names
        if item.name in compiled.get(node.module or "", ())
    }


def _is_compile(node: ast.expr, modules: Iterable[str], functions: dict[str, str]) -> bool:
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    if isinstance(function, ast.Name):
        return functions.get(function.id) == "compile"
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "compile"
        and isinstance(function.value, ast.Name)
        and function.value.id in modules
    )


def _says_pattern(annotation: ast.expr | None) -> bool:
    """Return whether an annotation is a pattern, and no container of patterns."""
    base = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    return base is not None and _name(base).strip(".") == "Pattern"


def _name(node: ast.expr) -> str:
    """Return a name; of an attribute, its last part after a dot; else nothing."""
    if isinstance(node, ast.Name):
        return node.id
    return f".{node.attr}" if isinstance(node, ast.Attribute) else ""
