# SPDX-License-Identifier: Apache-2.0
"""What the embedded model may write, in llama.cpp's form of grammars (GBNF).

Reasoning between `<think>` and `</think>`, then one tile program in the planner's layout. Made from
the language's own tables, so that a text of this grammar is one that `tile.parse` reads, once its
kernels have heads (`heads.py`) and their allocations are there (`inline.py`); what only the later
passes know (which names there are, shapes, element types) stays the model's to get right. `tl.fit`
is the model's own (`fit.py`). Besides what a grammar cannot count: 60 levels of nesting, functions
of the same name.

llama.cpp follows all readings of a text at once, so alternatives are told apart by their first
letters wherever that can be: names of operations share their beginnings, names are no keywords.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from npuforge.generate.lm.form.quoted import MARK, quotable
from npuforge.generate.lm.question.names import name_rules
from npuforge.generate.lm.question.task import OPERATOR
from npuforge.generate.written.signature import Parameter, Signature
from npuforge.tile.forms import COMPARISONS, ROUNDINGS
from npuforge.tile.kernels import ELEMENT_TYPES
from npuforge.tile.ops import table
from npuforge.tile.parse import KERNEL_DECORATOR, LANGUAGE_IMPORT
from npuforge.tile.scope import FUNCTIONS

THINK, ENDED = "<think>", "</think>"
_LEVELS = 8  # of indentation
_STEP = "    "
_SCALARS = frozenset({"bits", "scale", "value", "start", "step"})
_EITHER = frozenset({"a", "b"})
_QUOTED = f'("{_STEP}" quote)*'

# Blocks of a kernel: the calls each has, and what may be assigned in it besides scalars.
_BLOCKS: Mapping[str, tuple[str, str]] = {
    "kernel": ("", ""),
    "copyin": ("load", '"load_scalar(" pointer ")"'),
    "compute": ("operation", '"extract_scalar(" view (", " k-sum)+ ")"'),
    "copyout": ("store", ""),
}

_FIXED: Mapping[str, str] = {
    "root": "think program",
    "think": f'"{THINK}" ([^<] | "<" [^/])* "{ENDED}\\n"',
    "program": f'"{LANGUAGE_IMPORT}\\n" ("\\n\\n" kernel)+ "\\n\\n" host',
    "kernel": f'"@{KERNEL_DECORATOR}\\ndef " name "():\\n" body-kernel-1+',
    "host": f'"def {OPERATOR}_host(\\n" head "):\\n" body-host-1+',
    "head": "parameter+",
    "parameter": f'{_QUOTED} "{_STEP}" name ": tl." (("input(" | "inout(") dtype | '
    '"output(" dtype ", " shape | "attr(" attribute) "),\\n"',
    "attribute": '("float" | "int" | "bool") (", " "-"? number)?',
    "shape": '"(" (h-sum (", " h-sum)* ","?)? ")"',
    # ---- statements
    "kernel-head": f'"{MARK}def " name "(" name (", " name)* ")\\n"',
    "quote": f'"{MARK}" [^\\n]+ "\\n"',
    "next": '"," (" " | wrap)',
    "wrap": f'"\\n" "{_STEP}"+',
    "update": '" " ([-+*%] | "/" "/"?) "= "',
    "workspace": '"workspace(" shape ", " dtype ")"',
    "require": '"require(" h-expr ", " string ")"',
    "launch": '"[" h-sum "](" wrap? (h-choice (next h-choice)*)? ("," wrap)? ")"',
    "alloc": '"alloc_ub(" dims ", dtype=" dtype (", buffers=" [1-4])? ")" | '
    '"alloc_mask(" (k-sum | "(" k-sum ", " k-sum ")") ")"',
    "dims": 'k-sum | "(" k-sum ", " k-sum (", " k-sum)? ")"',
    "load": '"load(" pointer ", " view strides? (", again=True")? ")"',
    "store": '"store(" pointer ", " view strides? (", atomic=\\"" ("add" | "max" | "min") "\\"")?'
    ' ")"',
    "strides": '", stride=" (k-sum | "(" k-sum ", " k-sum ")")',
    # ---- operands
    "pointer": 'name (" " [-+] " " k-sum)?',
    "view": "name subscript?",
    "subscript": '"[" index (", " index)* "]"',
    "index": '"None" | k-sum colon? | colon',
    "colon": '" "? ":" (" "? k-sum)? (" "? ":" " "? k-sum)?',
    "operand": 'name (subscript | k-rest) | "-" k-atom k-rest | k-plain k-rest',
    # ---- words
    "compared": '" " ([<>] "="? | "==" | "!=") " "',
    "arithmetic": '" " ([-+*%] | "/" "/"?) " "',
    "number": '("0" | [1-9] [0-9]{0,17}) ("." [0-9]{1,17})? ("e" [-+]? [0-9]{1,3})?',
    "string": '"\\"" [ !#-\\[\\]-~]* "\\""',
}


def grammar(signature: Signature | None = None, asked: str = "") -> str:
    """The grammar's text; `root` is its beginning. With a signature, programs have its tensors:
    inputs may be missing, nothing else. Of what was asked, lines are quoted as they are."""
    rules = dict(_rules())
    if lines := quotable(asked):
        rules["quote"] = f'"{MARK}" ({trie(dict.fromkeys(lines, ""))}) "\\n"'
    if signature is not None:
        rules["head"] = " ".join(_tensor(parameter) for parameter in signature.parameters)
    return "".join(f"{name} ::= {text}\n" for name, text in rules.items())


def _tensor(parameter: Parameter) -> str:
    operand = parameter.operand
    line = f"{_STEP}{operand.name}: tl.{operand.role}(tl.{parameter.dtype}"
    if operand.role == "output":
        return f'{_QUOTED} "{line}, " shape "),\\n"'
    return f'({_QUOTED} "{line}),\\n")' + ("?" if operand.role == "input" else "")


@cache
def _rules() -> Mapping[str, str]:
    rules = dict(_FIXED)
    rules["dtype"] = '"tl." (' + trie(dict.fromkeys(ELEMENT_TYPES, "")) + ")"
    rules |= _expressions("k", "", {"program_id(0)": "", "num_programs(0)": ""})
    shaped = '(".shape[" "-"? [0-9] "]" | ".numel()")?'
    fit = {"fit(": 'name (", " h-sum)? ")"'}
    rules |= _expressions("h", shaped, {"num_cores()": "", "ub_bytes()": "", **fit})
    rules["operation"] = trie(
        {f"{name}(": _arguments(info.arguments) for name, info in table().items()}
    )
    for level in range(1, _LEVELS + 1):
        rules |= _host_body(level)
        for block in _BLOCKS:
            rules |= _body(block, level)
    return rules | name_rules()


def trie(words: Mapping[str, str]) -> str:
    """Words, each with what follows it, as alternatives that differ in their first letters."""
    if len(words) == 1:
        ((word, then),) = words.items()
        return " ".join(part for part in (_literal(word), then) if part) or '""'
    heads: dict[str, dict[str, str]] = {}
    for word, then in words.items():
        heads.setdefault(word[:1], {})[word[1:]] = then
    cases: list[str] = []
    for letter, rest in sorted(heads.items()):
        shared = letter
        while len(rest) > 1 and len({word[:1] for word in rest}) == 1 and "" not in rest:
            shared += next(iter(rest))[0]
            rest = {word[1:]: then for word, then in rest.items()}
        if len(rest) == 1:
            ((word, then),) = rest.items()
            cases.append(trie({shared + word: then}))
        else:
            cases.append(f"{_literal(shared)} ({trie(rest)})")
    return " | ".join(cases)


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"' if text else ""


def _expressions(x: str, tail: str, own: Mapping[str, str]) -> dict[str, str]:
    """Scalars and conditions; `tail` may follow a name, `own` are functions of this side only."""
    plain = {name: count for name, (_, count, _) in FUNCTIONS.items()}
    calls = {f"{name}(": _called(name, count, x) for name, count in plain.items()}
    words = {word.removeprefix("tl."): then for word, then in calls.items() if word[:3] == "tl."}
    bare = {word: then for word, then in calls.items() if word[:3] != "tl."}
    return {
        f"{x}-choice": f'{x}-expr (" if " {x}-expr " else " {x}-choice)?',
        f"{x}-expr": f'{x}-clause ((" and " | " or ") {x}-clause)*',
        f"{x}-clause": f'"not "? {x}-sum (compared {x}-sum)*',
        f"{x}-sum": f"{x}-term {x}-rest",
        f"{x}-rest": f"(arithmetic {x}-term)*",
        f"{x}-term": f'"-"? {x}-atom',
        f"{x}-atom": f"name {tail} | {x}-plain",
        f"{x}-plain": f'number | "(" {x}-choice ")" | "True" | "False" | "tl." {x}-tl | '
        + trie(bare),
        f"{x}-tl": trie({**words, **own, "inf": "", "nan": ""}),
    }


def _called(name: str, count: int, x: str) -> str:
    """Arguments of a function of scalars; `min` and `max` take any number from theirs on."""
    more = f'(", " {x}-choice)*' if name.removeprefix("tl.") in ("min", "max") else ""
    wanted = ' ", " '.join([f"{x}-choice"] * count)
    return " ".join(part for part in (wanted, more, '")"') if part)


def _arguments(text: str) -> str:
    """Arguments of an operation, as its table has them."""
    parts: list[str] = []
    for number, argument in enumerate(text.split(", ")):
        separator = '", " ' if number else ""
        name, keyword, _ = argument.partition("=")
        if keyword:
            parts.append(f'(", {name}=" {_VALUES[name]})?')
        else:
            parts.append(separator + _kind(name))
    return " ".join([*parts, '")"'])


def _kind(argument: str) -> str:
    if argument.startswith('"'):
        return "(" + " | ".join(_literal(f'"{word}"') for word in COMPARISONS) + ")"
    if argument == "i":  # as many as the tile has dimensions
        return 'k-sum (", " k-sum)?'
    if argument in _SCALARS:
        return "k-sum"
    return "operand" if argument in _EITHER else "view"


_VALUES: Mapping[str, str] = {
    "round": "(" + " | ".join(_literal(f'"{word}"') for word in ROUNDINGS) + ")",
    "axis": '("None" | "-"? [0-2])',
    "descending": '("True" | "False")',
}


def _body(block: str, level: int) -> dict[str, str]:
    """A statement of a kernel in a block, with what is inside it."""
    call, read = _BLOCKS[block]
    here = f"{block}-{level}"
    reads = f'| "tl." {read} "\\n"' if read else ""
    # What is allocated is used: another statement follows.
    alloc = f'"tl." alloc "\\n{_STEP * level}" at-{here}'
    cases = [f'name (" = " (k-choice "\\n" | {alloc} {reads}) | update k-choice "\\n")']
    if call:
        cases.append(f'"tl." {call} "\\n"')
    if level < _LEVELS:
        inner = f"body-{block}-{level + 1}+"
        span = 'k-sum (", " k-sum (", " [1-9] [0-9]{0,17})?)?'
        cases.append(f'"for " name " in range(" {span} "):\\n" {inner}')
        cases.append(_branches("k", level, inner))
        if block == "kernel":
            blocks = (f'"{one}():\\n" body-{one}-{level + 1}+' for one in _BLOCKS if one != block)
            cases.append(f'"with tl." ({" | ".join(blocks)})')
    body = f'"{_STEP * level}" ( quote "{_STEP * level}" )* at-{here}'
    return {f"body-{here}": body, f"at-{here}": " | ".join(cases)}


def _host_body(level: int) -> dict[str, str]:
    cases = [
        'name (" = " (h-choice | "tl." workspace) | update h-choice | launch) "\\n"',
        '"tl." require "\\n"',
    ]
    if level < _LEVELS:
        cases.append(_branches("h", level, f"body-host-{level + 1}+"))
    here = f"host-{level}"
    body = f'"{_STEP * level}" ( kernel-head "{_STEP * level}" )? at-{here}'
    return {f"body-{here}": body, f"at-{here}": " | ".join(cases)}


def _branches(x: str, level: int, inner: str) -> str:
    indent = _STEP * level
    return (
        f'"if " {x}-expr ":\\n" {inner} ("{indent}elif " {x}-expr ":\\n" {inner})* '
        f'("{indent}else:\\n" {inner})?'
    )
