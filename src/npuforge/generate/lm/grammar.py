# SPDX-License-Identifier: Apache-2.0
"""The grammar of completions, in the form of Lark that llguidance reads.

Reasoning between `<think>` and `</think>`, then one tile program in the planner's layout. The rules
are made from the language's own tables, so `tile.parse` reads every text of the grammar. Names,
shapes and element types stay the model's to get right. A grammar cannot count: 60 levels of nesting
and two functions of one name are for the parser to refuse.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator, Mapping
from functools import cache

from npuforge.generate.lm.prompt.canonical import OPERATOR
from npuforge.generate.written.signature import Parameter, Signature
from npuforge.tile.forms import COMPARISONS, ROUNDINGS
from npuforge.tile.kernels import ELEMENT_TYPES
from npuforge.tile.ops import table
from npuforge.tile.parse import KERNEL_DECORATOR, LANGUAGE_IMPORT
from npuforge.tile.scope import FUNCTIONS

THINK, END_OF_THOUGHT = "<think>", "</think>"
THOUGHT = f"{THINK} THOUGHT {END_OF_THOUGHT}"  # for a tokenizer that has the marks as tokens
_LEVELS = 8  # of indentation
_STEP = "    "
_SCALARS = frozenset({"bits", "scale", "value", "start", "step"})
_EITHER = frozenset({"a", "b"})
_KEYWORDS = "|".join(sorted({"tl", *(word for word in keyword.kwlist if word.islower())}))

# Statements of a kernel's block besides assignments, and what an assignment may read there.
_BLOCKS: Mapping[str, tuple[str, str]] = {
    "kernel": ("", ""),
    "copyin": ("load", '"tl.load_scalar(" pointer ")"'),
    "compute": ("operation", '"tl.extract_scalar(" view (", " k_sum)+ ")"'),
    "copyout": ("store", ""),
}

_TERMINALS: Mapping[str, str] = {
    "NAME": rf"/[a-z][a-z0-9_]*/ & ~/({_KEYWORDS})/",
    "TEXT": r"/[^\n]+/",
    "THOUGHT": r"/([^<]|<[^\/])*/",
    "NUMBER": r"/(0|[1-9][0-9]{0,17})(\.[0-9]{1,17})?(e[-+]?[0-9]{1,3})?/",
    "POSITIVE": "/[1-9][0-9]{0,17}/",
    "STRING": r'/"[ !#-\[\]-~]*"/',
    "DTYPE": "/tl\\.(" + "|".join(sorted(ELEMENT_TYPES)) + ")/",
    "NEXT": r"/, |,\n( {4})+/",
    "WRAP": r"/\n( {4})+/",
    "UPDATE": r"/ ([-+*%]|\/\/?)= /",
    "SIGN": "/ [-+] /",
    "COMPARED": "/ ([<>]=?|[=!]=) /",
    "ARITHMETIC": r"/ ([-+*%]|\/\/?) /",
    "COLON": "/ ?: ?/",
    "AXIS": "/None|-?[0-2]/",
}

_RULES: Mapping[str, str] = {
    "program": f'"{LANGUAGE_IMPORT}\\n" ("\\n\\n" kernel)+ "\\n\\n" host',
    "kernel": f'"@{KERNEL_DECORATOR}\\ndef " NAME "(" WRAP? parameters "):\\n" '
    f'("{_STEP}" alloc | body_kernel_1)+',
    "parameters": "NAME (NEXT NAME)* NEXT?",
    "host": f'"def {OPERATOR}_host(\\n" head "):\\n" body_host_1+',
    "head": "parameter+",
    "parameter": f'"{_STEP}" NAME ": tl." (("input(" | "inout(") DTYPE | '
    '"output(" DTYPE ", " shape | "attr(" attribute) "),\\n"',
    "attribute": '("float" | "int" | "bool") (", " "-"? NUMBER)?',
    "shape": '"(" (h_sum (", " h_sum)* ","?)? ")"',
    # ---- statements
    "end": '("  # " TEXT)? "\\n"',
    "comment": '"# " TEXT "\\n"',
    "workspace": '"tl.workspace(" shape ", " DTYPE ")"',
    "require": '"tl.require(" h_choice ", " STRING ")"',
    "launch": '"[" h_sum "](" WRAP? (h_choice (NEXT h_choice)* NEXT?)? ")"',
    "alloc": 'NAME " = " ("tl.alloc_ub(" dims ", dtype=" DTYPE (", buffers=" /[1-4]/)? ")" | '
    '"tl.alloc_mask(" (k_sum | "(" k_sum ", " k_sum ")") ")") end',
    "dims": 'k_sum | "(" k_sum ", " k_sum (", " k_sum)? ")"',
    "load": '"tl.load(" pointer ", " view strides? (", again=True")? ")"',
    "store": '"tl.store(" pointer ", " view strides? atomic? ")"',
    "atomic": '", atomic=\\"" ("add" | "max" | "min") "\\""',
    "strides": '", stride=" (k_sum | "(" k_sum ", " k_sum ")")',
    # ---- operands
    "pointer": "NAME (SIGN k_sum)?",
    "view": "NAME subscript?",
    "subscript": '"[" index (", " index)* "]"',
    "index": '"None" | k_sum (COLON k_sum?)? (COLON k_sum)? | COLON k_sum? (COLON k_sum)?',
    "operand": "NAME subscript | k_sum",
}


def grammar(signature: Signature | None = None) -> str:
    """Return the grammar. With a signature, the host function has its tensors, of which only
    inputs may be missing."""
    rules = dict(_made_rules())
    if signature is not None:
        rules["head"] = " ".join(_parameter(parameter) for parameter in signature.parameters)
    rules = {"start": f'{THOUGHT} "\\n" program', **rules}
    lines = [*rules.items(), *_TERMINALS.items()]
    return "%llguidance {}\n" + "".join(f"{name}: {text}\n" for name, text in lines)


def _parameter(parameter: Parameter) -> str:
    operand = parameter.operand
    line = f"{_STEP}{operand.name}: tl.{operand.role}(tl.{parameter.dtype}"
    if operand.role == "output":
        return f'"{line}, " shape "),\\n"'
    return f'("{line}),\\n")' + ("?" if operand.role == "input" else "")


@cache
def _made_rules() -> Mapping[str, str]:
    rules = dict(_RULES)
    rules |= _expressions("k", "", ["tl.program_id(0)", "tl.num_programs(0)"])
    extent = '(".shape[" "-"? /[0-9]/ "]" | ".numel()")?'
    rules |= _expressions("h", extent, ["tl.num_cores()", "tl.ub_bytes()"])
    operations = (f"{_call(name, info.arguments)}" for name, info in table().items())
    rules["operation"] = " | ".join(operations)
    for level in range(1, _LEVELS + 1):
        rules[f"body_host_{level}"] = _body(level, _host_statements(level))
        for block in _BLOCKS:
            rules[f"body_{block}_{level}"] = _body(level, _kernel_statements(block, level))
    return rules


def _expressions(x: str, extent: str, constants: list[str]) -> dict[str, str]:
    """Return the rules of scalars and conditions. `extent` may follow a name; `constants` exist on
    this side only."""
    calls = [
        f'"{name}(" {_scalars(name, count, x)} ")"' for name, (_, count, _) in FUNCTIONS.items()
    ]
    words = [f'"{word}"' for word in ("True", "False", "tl.inf", "tl.nan", *constants)]
    plain = " | ".join(["NUMBER", f'"(" {x}_choice ")"', *words, *calls])
    return {
        f"{x}_choice": f'{x}_expr (" if " {x}_expr " else " {x}_choice)?',
        f"{x}_expr": f'{x}_clause ((" and " | " or ") {x}_clause)*',
        f"{x}_clause": f'"not "? {x}_sum (COMPARED {x}_sum)*',
        f"{x}_sum": f"{x}_term (ARITHMETIC {x}_term)*",
        f"{x}_term": f'"-"? (NAME {extent} | {plain})',
    }


def _scalars(name: str, count: int, x: str) -> str:
    """Return the arguments of a function of scalars; `min` and `max` take any further number."""
    more = f'(", " {x}_choice)*' if name.removeprefix("tl.") in ("min", "max") else ""
    return '", " '.join([f"{x}_choice "] * count) + more


def _call(name: str, arguments: str) -> str:
    """Return an operation with the arguments that its table has."""
    parts = [f'"tl.{name}("']
    for number, argument in enumerate(arguments.split(", ")):
        word, optional, _ = argument.partition("=")
        if optional:
            parts.append(f'(", {word}=" {_VALUES[word]})?')
        else:
            parts += ['", "'] * bool(number) + [_kind(argument)]
    return " ".join([*parts, '")"'])


def _kind(argument: str) -> str:
    if argument.startswith('"'):
        return _words(COMPARISONS)
    if argument == "i":  # one for each dimension of the tile
        return 'k_sum (", " k_sum)?'
    if argument in _SCALARS:
        return "k_sum"
    return "operand" if argument in _EITHER else "view"


def _words(words: Mapping[str, object] | tuple[str, ...] | frozenset[str]) -> str:
    return "(" + " | ".join(f'"\\"{word}\\""' for word in words) + ")"


_VALUES: Mapping[str, str] = {
    "round": _words(tuple(ROUNDINGS)),
    "axis": "AXIS",
    "descending": '("True" | "False")',
}


def _body(level: int, statements: Iterator[str]) -> str:
    return f'"{_STEP * level}" (comment | {" | ".join(statements)})'


def _kernel_statements(block: str, level: int) -> Iterator[str]:
    call, read = _BLOCKS[block]
    value = f"k_choice | {read}" if read else "k_choice"
    yield f'NAME (" = " ({value}) | UPDATE k_choice) end'
    if call:
        yield f"{call} end"
    if level < _LEVELS:
        inner = f"body_{block}_{level + 1}+"
        bounds = 'k_sum (", " k_sum (", " POSITIVE)?)?'
        yield f'"for " NAME " in range(" {bounds} "):\\n" {inner}'
        yield _branches("k", level, inner)
        if block == "kernel":
            for one in _BLOCKS:
                if one != block:
                    yield f'"with tl.{one}():\\n" body_{one}_{level + 1}+'


def _host_statements(level: int) -> Iterator[str]:
    yield 'NAME (" = " (h_choice | workspace) | UPDATE h_choice | launch) end'
    yield "require end"
    if level < _LEVELS:
        yield _branches("h", level, f"body_host_{level + 1}+")


def _branches(x: str, level: int, inner: str) -> str:
    indent = _STEP * level
    return (
        f'"if " {x}_choice ":\\n" {inner} ("{indent}elif " {x}_choice ":\\n" {inner})* '
        f'("{indent}else:\\n" {inner})?'
    )
