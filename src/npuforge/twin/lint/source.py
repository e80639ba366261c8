# SPDX-License-Identifier: Apache-2.0
"""Read the kernel's sources with their local includes and parse them.

The qualifiers of the device language are not C++. They are replaced by words of the same length
that the parser knows (`__gm__` by `const`, `__aicore__` by `inline`); where each stood is kept.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import tree_sitter_cpp
from tree_sitter import Language, Node, Parser

from npuforge.errors import UsageError
from npuforge.twin.lint.finding import SourceText
from npuforge.twin.lint.preprocess import Macros, blank, visible
from npuforge.twin.project_files import ProjectFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MOST_OPEN = 2000
_LONGEST_EXPRESSION = 16_000
_STEPS = np.zeros(256, np.int8)
_STEPS[[ord(bracket) for bracket in "([{"]] = 1
_STEPS[[ord(bracket) for bracket in ")]}"]] = -1
_MOST_FILES = 2000
_DEEPEST = 100

CPP = Language(tree_sitter_cpp.language())

_FUNCTION_MARKS = {
    b"__aicore__": "aicore",
    b"__global__": "global",
    b"__host__": "host",
    b"__aicpu__": "aicpu",
    b"__simt_vf__": "aicore",
    b"__simd_vf__": "aicore",
    b"__callee__": "aicore",
    b"__vector__": "aicore",
    b"__cube__": "aicore",
    b"__forceinline__": "",
    b"__inline__": "",
}
_SPACES = {
    b"__gm__": "gm",
    b"__ubuf__": "ubuf",
    b"__cbuf__": "cbuf",
    b"__ca__": "ca",
    b"__cb__": "cb",
    b"__cc__": "cc",
    b"__fbuf__": "fbuf",
}
# One pattern per first characters: the regex engine skips fast to a literal prefix.
_UNDERSCORED = re.compile(rb"__\w+?__(?!\w)")
_ARGUMENTS = re.compile(rb"__(?:mix|schedmode|launch_bounds)__\s{0,80}\([^)]{0,200}\)")
_ATTRIBUTE = re.compile(rb"\[(?:host,\s*)?aicore\]")
_CORE_TEST = re.compile(rb"ASCEND_IS_(?:NOT_)?AI[VC]\b(?:\s*\(\))?")
_LAUNCH = re.compile(rb"(?<!<)<<<(?!<)[^;{}]{0,1000}?>>>")
_DISAMBIGUATOR = re.compile(rb"(?:\.|->|::)\s*template\b(?!\s*<)")
_DROPPED = (b"__sync_alias__", b"__kfc_workspace__", b"__sync_noalias__", b"__ssbuf__")

# Headers of the toolkit: never followed, never missed.
_TOOLKIT_HEADER = re.compile(
    r"kernel_\w+\.h|(?:.*/)?(?:lib|acl|register|tiling|graph|adv_api|basic_api|impl|exe_graph|"
    r"platform|aclnn|hccl|c_api|simt_api|utils|interface|kernel_tiling|op_\w+|securec|version)/.*|"
    r"(?:acl|securec|tikicpulib|ascendc_\w+|op_\w+|tiling_\w+|data_utils)\.h|aclrtlaunch_\w+\.h"
)


@dataclass(slots=True)
class SourceFile:
    """One parsed file: the device's view of its text, and where qualifiers stood."""

    name: str
    text: bytes
    root: Node
    marks: list[tuple[int, str]]  # sorted by offset

    def kinds(self, start: int, end: int) -> set[str]:
        """The qualifiers between two offsets."""
        found: set[str] = set()
        index = bisect_left(self.marks, (start, ""))
        while index < len(self.marks) and self.marks[index][0] < end:
            found.add(self.marks[index][1])
            index += 1
        return found

    def of(self, node: Node) -> str:
        """The text of a node."""
        return self.text[node.start_byte : node.end_byte].decode(errors="replace")


@dataclass(slots=True)
class Program:
    """All files of a kernel, and what the preprocessor learnt on the way."""

    files: list[SourceFile] = field(default_factory=list)
    macros: Macros = field(default_factory=Macros)
    complete: bool = True  # every local include was found


def read(
    sources: Sequence[Path | SourceText],
    include_roots: Sequence[Path],
    files: ProjectFiles | None = None,
) -> Program:
    """Return the program that the sources make, each file once.

    Includes are followed as far as they are `files` of the project: by default what lies below the
    sources' folders or in `include_roots`.
    """
    if files is None:
        folders = [source.parent for source in sources if isinstance(source, Path)]
        files = ProjectFiles.of(*folders, opened=include_roots)
    return _Reader(sources, include_roots, files).program


class _Reader:
    def __init__(
        self, sources: Sequence[Path | SourceText], roots: Sequence[Path], files: ProjectFiles
    ) -> None:
        self.program = Program()
        self._roots = list(roots)
        self._files = files
        self._depth = 0
        self._texts = {s.name: s for s in sources if isinstance(s, SourceText)}
        self._seen: set[str] = set()
        self._parser = Parser(CPP)
        for source in sources:
            self._add(source)

    def _add(self, source: Path | SourceText) -> None:
        if isinstance(source, SourceText):
            name, text, folder = source.name, source.text.encode(), Path(source.name).parent
        else:
            name, folder = str(source), source.parent
        key = name if isinstance(source, SourceText) else os.path.realpath(source)
        if key in self._seen:
            return
        if len(self._seen) >= _MOST_FILES or self._depth >= _DEEPEST:
            raise UsageError(f"{name} includes too many files, or too deep")
        self._seen.add(key)
        if isinstance(source, Path):
            text = self._files.read(source)
        self._depth += 1
        seen = visible(text, self.program.macros, lambda path: self._include(path, folder))
        self._depth -= 1
        plain, marks = _plain_cpp(seen, self.program.macros)
        if _is_deep(plain):
            raise UsageError(f"{name} is nested too deeply to be understood")
        root = self._parser.parse(plain).root_node
        self.program.files.append(SourceFile(name, plain, root, marks))

    def _include(self, path: str, folder: Path) -> None:
        for candidate in (str(folder / path), path):
            if candidate in self._texts:
                self._add(self._texts[candidate])
                return
        for base in (folder, *self._roots):
            if self._files.holds(base / path):
                if not _TOOLKIT_HEADER.fullmatch(path):
                    self._add(base / path)
                return
        if not _TOOLKIT_HEADER.fullmatch(path):
            self.program.complete = False


def _is_deep(text: bytes) -> bool:
    """Tell whether a syntax tree of the text may be so deep that searching it takes minutes.

    Depth comes from open brackets, or from one expression: a text between two of `;{},`.
    """
    octets = np.frombuffer(text, np.uint8)
    steps = _STEPS[octets]
    if np.cumsum(steps, dtype=np.int64).max(initial=0) > _MOST_OPEN:
        return True
    visible_octets = octets[octets > ord(" ")]
    ends = np.flatnonzero(np.isin(visible_octets, np.frombuffer(b";{},", np.uint8)))
    edges = np.concatenate([[0], ends, [visible_octets.size]])
    return bool(np.diff(edges).max(initial=0) > _LONGEST_EXPRESSION)


def _plain_cpp(text: bytes, macros: Macros) -> tuple[bytes, list[tuple[int, str]]]:
    """C++ of the same length, and where each qualifier stood."""
    marks: list[tuple[int, str]] = []
    aliases = {name.encode(): kinds for name, kinds in _aliases(macros).items()}
    known = {word: {kind} - {""} for word, kind in (_FUNCTION_MARKS | _SPACES).items()} | aliases

    def qualifier(match: re.Match[bytes]) -> bytes:
        word = match.group()
        kinds = known.get(word)
        if kinds is None:
            return b" " * len(word) if word in _DROPPED else word
        marks.extend((match.start(), kind) for kind in kinds)
        keyword = b"const" if kinds and kinds <= set(_SPACES.values()) else b"inline"
        return keyword.ljust(len(word)) if len(word) >= len(keyword) else b" " * len(word)

    def with_arguments(match: re.Match[bytes]) -> bytes:
        if match.group().startswith(b"__mix__"):
            marks.append((match.start(), "aicore"))
        return blank(match.group())

    def attribute(match: re.Match[bytes]) -> bytes:
        marks.append((match.start(), "aicore"))
        return b"inline".ljust(len(match.group()))

    text = _ARGUMENTS.sub(with_arguments, text)
    text = _UNDERSCORED.sub(qualifier, text)
    text = _ATTRIBUTE.sub(attribute, text)
    for alias in aliases:
        if alias in text and not _UNDERSCORED.fullmatch(alias):
            text = re.sub(
                re.escape(alias) + rb"(?!\w)(?<!\w" + re.escape(alias) + b")", qualifier, text
            )
    text = _CORE_TEST.sub(lambda m: b"(" + b"1".ljust(len(m.group()) - 2) + b")", text)
    text = _LAUNCH.sub(lambda m: blank(m.group()), text)
    text = _DISAMBIGUATOR.sub(lambda m: m.group().replace(b"template", b" " * 8), text)
    return text, sorted(marks)


def _aliases(macros: Macros) -> dict[str, set[str]]:
    """Macros that stand for nothing but qualifiers, such as `#define DEVICE __aicore__ inline`."""
    found: dict[str, set[str]] = {}
    known = {**_FUNCTION_MARKS, **_SPACES}
    extra = re.compile(rb"\b(?:inline|static|constexpr|const|__attribute__\(\(\w+\)\))")
    split: Callable[[bytes], list[bytes]] = re.compile(rb"\[[^\]]*\]|\w+").findall
    for name, body in macros.objects.items():
        if re.sub(r"\W", "", name) != name or not (words := split(extra.sub(b"", body))):
            continue
        kinds: set[str] = set()
        for word in words:
            if _ATTRIBUTE.fullmatch(word):
                kinds.add("aicore")
            elif word in known:
                kinds.add(known[word])
            elif word.decode(errors="replace") in found:
                kinds |= found[word.decode()]
            else:
                break
        else:
            found[name] = kinds
    return found
