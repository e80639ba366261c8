# SPDX-License-Identifier: Apache-2.0
"""What each kernel of a program is for, before any of it is written.

A kernel counts in parameters (`rows`, `cols`) that only its launch gives a meaning, at the very
end; who has not settled it by then settles it anew, and otherwise than the bodies suppose. So the
reasoning begins with what follows from the question alone: what parameters stand for, and what a
kernel reads, computes and leaves. All of it is in symbols: nothing depends on sizes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from npuforge.generate.lm.form.quoted import MARK
from npuforge.generate.lm.form.single import arguments
from npuforge.generate.lm.guide.facts.meaning import SHARED

_FUNCTION = re.compile(r"^def (\w+)\(", re.MULTILINE)
_BARE = "):\n"  # what follows a kernel's name; a host has parameters
_TENSOR = re.compile(r"^ +(\w+): tl\.(?:input|inout|output)\(", re.MULTILINE)
_ROOM = re.compile(r"^ +(\w+) = tl\.workspace\(\((.*?),?\), tl\.(\w+)\)$", re.MULTILINE)
_EXTENT = re.compile(r"^ +(\w+) = \w+\.shape\[\d+\]$", re.MULTILINE)
_HEAD = re.compile(rf"^ +{MARK}def (\w+)\((.*)\)$", re.MULTILINE)
_LAUNCH = re.compile(r"^ +(\w+)\[.*\]\((.*)\)$", re.MULTILINE)
_LOAD = re.compile(r"^ +(?:\w+ = )?tl\.load(?:_scalar)?\((\w+)", re.MULTILINE)
_QUOTE = re.compile(rf"^ +{MARK}(\w+) = ", re.MULTILINE)
_STORE = re.compile(r"^ +tl\.store\((\w+)(.*)\)$", re.MULTILINE)
_VALUE = re.compile(r"^(v\d+)(?:_[a-z]+)?_*(?:\[|$)")  # a buffer with the name of a value
_NAME = re.compile(r"\b[A-Za-z_]\w*")


def outline(program: str) -> dict[str, list[str]]:
    """Lines about each kernel of a program in the form that is taught, kernels in its order."""
    parts = _FUNCTION.split(program)
    functions = dict(zip(parts[1::2], parts[2::2], strict=True))
    kernels = {name: body for name, body in functions.items() if body.startswith(_BARE)}
    host = _Host.read("".join(body for name, body in functions.items() if name not in kernels))
    unsaid = dict(host.rooms)
    lines: dict[str, list[str]] = {}
    for name, body in kernels.items():
        launches = (_Launch(body, given, host, unsaid) for given in host.launches.get(name, []))
        said = [launch.lines(shared=name.endswith(SHARED)) for launch in launches]
        lines[name] = list(dict.fromkeys(line for some in said for line in some if line))
    return lines


@dataclass(frozen=True, slots=True)
class _Host:
    extents: frozenset[str]
    tensors: frozenset[str]
    rooms: Mapping[str, str]  # workspaces, and what they are as a question says it of a tensor
    launches: Mapping[str, list[dict[str, str]]]  # of each kernel: arguments by parameter

    @classmethod
    def read(cls, text: str) -> _Host:
        rooms = {name: f"{dtype}[{shape}]" for name, shape, dtype in _ROOM.findall(text)}
        tensors = frozenset([*_TENSOR.findall(text), *rooms])
        heads = {name: arguments(names) for name, names in _HEAD.findall(text)}
        launches: dict[str, list[dict[str, str]]] = {}
        for name, values in _LAUNCH.findall(text):
            names, given = heads.get(name, []), arguments(values)
            if len(names) == len(given):
                launches.setdefault(name, []).append(dict(zip(names, given, strict=True)))
        return cls(frozenset(_EXTENT.findall(text)), tensors, rooms, launches)


@dataclass(frozen=True, slots=True)
class _Launch:
    body: str
    given: Mapping[str, str]
    host: _Host
    unsaid: dict[str, str]  # workspaces, as long as nobody has said what they are

    def lines(self, *, shared: bool) -> list[str]:
        """A shared kernel has names of its own and no values: its parameters say everything."""
        stored = self._stored()
        if shared:
            return [", ".join(self._parameters(shared=True, stored=stored))]
        parts = [
            dict.fromkeys(self._tensors(_LOAD.findall(self.body))),
            dict.fromkeys(_QUOTE.findall(self.body)),
            [self._left(name, value) for name, value in stored.items()],
        ]
        return [
            ", ".join(self._parameters(shared=False, stored={})),
            " -> ".join(", ".join(part) for part in parts if part),
        ]

    def _parameters(self, *, shared: bool, stored: Mapping[str, str]) -> Iterator[str]:
        """What is made of extents, and tensors that have other names here. How the work is divided
        follows from these."""
        for name, value in self.given.items():
            if value in self.host.tensors:
                if shared or name != value:
                    yield f"{name} = {value}{self._kind(value) if value in stored else ''}"
            elif name != value and self.host.extents.issuperset(_NAME.findall(value)):
                yield f"{name} = {value}"

    def _stored(self) -> dict[str, str]:
        """Tensors that are stored to, and the values where names of buffers tell."""
        found: dict[str, str] = {}
        for pointer, rest in _STORE.findall(self.body):
            buffer = [*arguments(rest), "", ""][1]
            value = _VALUE.match(buffer)
            for name in self._tensors([pointer]):
                found.setdefault(name, value[1] if value is not None else "")
        return found

    def _left(self, name: str, value: str) -> str:
        if value and name in self.host.rooms:
            return f"{name} = {value}{self._kind(name)}"
        return f"{name}{self._kind(name)}"

    def _kind(self, name: str) -> str:
        kind = self.unsaid.pop(name, "")
        return f": {kind}" if kind else ""

    def _tensors(self, names: Iterable[str]) -> Iterator[str]:
        """What the host calls the tensors among a kernel's names."""
        given = (self.given.get(name, "") for name in names)
        return (value for value in given if value in self.host.tensors)
