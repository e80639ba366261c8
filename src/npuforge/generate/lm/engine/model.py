# SPDX-License-Identifier: Apache-2.0
"""The file of a model (GGUF): its place and the contents of its head."""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from npuforge.errors import UsageError
from npuforge.generate.lm.engine.vocabulary import Vocabulary
from npuforge.untrusted.inputs import is_plain_file

VARIABLE = "NPUFORGE_LM"
TOKENIZER = "tokenizer.huggingface.json"
TEMPLATE = "tokenizer.chat_template"
END = "tokenizer.ggml.eos_token_id"
PAD = "tokenizer.ggml.padding_token_id"
_WEIGHTS = "weights"
_HOW = (
    "train one (docs/lm.md) and name it with --lm-model FILE or the environment variable "
    f"{VARIABLE}"
)

_NUMBERS = dict(
    zip(range(13), ["B", "b", "H", "h", "I", "i", "f", "?", "_", "_", "Q", "q", "d"], strict=True)
)
_TEXT, _LIST = 8, 9
_MOST_CONTEXT = 1 << 24
_MOST_ENTRIES = 100_000


@dataclass(frozen=True, slots=True)
class ModelFile:
    """`head` holds what the file says of itself, without its long lists."""

    path: Path
    head: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def context(self) -> int:
        """Tokens that the model was made for, question and answer together."""
        kind = self.head.get("general.architecture", "llama")
        said = self.head.get(f"{kind}.context_length", 2048)
        if not isinstance(said, int) or not 0 < said <= _MOST_CONTEXT:
            raise UsageError(f"{self.path}: its length of context is no number of tokens")
        return said

    def prompt(self, messages: Sequence[Mapping[str, str]]) -> list[int]:
        """Return a conversation in the form that the model knows, as its tokens."""
        tokens = self.tokenizer().encode(self._chat(messages), add_special_tokens=False)
        return list(tokens.ids)

    def vocabulary(self) -> Vocabulary:
        """Return the tokens of the tokenizer, for completions under a grammar."""
        end = self.head.get(END)
        if not isinstance(end, int):
            raise UsageError(f"{self.path} does not name the token that ends a completion")
        return Vocabulary(self.tokenizer(), end)

    def tokenizer(self) -> Any:
        """Return the tokenizer that the model was trained with, which its file must bring."""
        tokenizer = self.head.get(TOKENIZER)
        if not isinstance(tokenizer, str):
            raise UsageError(f"{self.path} brings no tokenizer: `npuforge train export` adds it")
        try:
            import tokenizers  # noqa: PLC0415 (optional)
        except ImportError:
            raise UsageError("tokenizers is not installed: pip install 'npuforge[lm]'") from None
        try:
            return tokenizers.Tokenizer.from_str(tokenizer)
        except Exception as error:  # of any type: the text is a stranger's
            raise UsageError(f"{self.path}: its tokenizer cannot be read: {error}") from None

    def _chat(self, messages: Sequence[Mapping[str, str]]) -> str:
        from npuforge.untrusted.templates import Templates  # noqa: PLC0415 (--help needs none)

        template = self.head.get(TEMPLATE)
        if template is None:
            raise UsageError(f"{self.path} has no chat template")
        # As transformers renders them.
        return Templates(trim_blocks=True, lstrip_blocks=True).written(
            str(template),
            f"the chat template of {self.path}",
            messages=messages,
            add_generation_prompt=True,
        )


def find(path: Path | None = None) -> ModelFile:
    """The model that is asked for, the environment's, or the one that came with npuforge."""
    if path is None and os.environ.get(VARIABLE):
        path = Path(os.environ[VARIABLE])
    if path is None:
        path = _packaged()
    return read(path)


def _packaged() -> Path:
    folder = files("npuforge.generate.lm").joinpath(_WEIGHTS)
    found = sorted(
        (entry for entry in (folder.iterdir() if folder.is_dir() else ())
         if entry.name.endswith(".gguf")),
        key=lambda entry: entry.name,
    )  # fmt: skip
    if not found:
        raise UsageError(f"no model came with this npuforge: {_HOW}")
    with as_file(found[-1]) as path:
        return path


def read(path: Path) -> ModelFile:
    """`UsageError` for a file that is not a model."""
    if not path.exists():
        raise UsageError(f"cannot read the model {path}: No such file")
    if not is_plain_file(path):
        raise UsageError(f"cannot read the model {path}: it is not a plain file")
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return ModelFile(path, dict(_Head(data).entries()))
    except OSError as error:
        raise UsageError(f"cannot read the model {path}: {error.strerror}") from None
    except (ValueError, struct.error, KeyError, OverflowError, IndexError, MemoryError):
        raise UsageError(f"{path} is not a GGUF file") from None


@dataclass(slots=True)
class _Head:
    data: mmap.mmap
    place: int = 0

    def entries(self) -> Iterator[tuple[str, Any]]:
        if self.data[:4] != b"GGUF":
            raise ValueError
        self.place = 4
        _, _, count = self.number("I"), self.number("Q"), self.number("Q")
        if count > _MOST_ENTRIES:
            raise ValueError
        for _ in range(count):
            key, kind = self.text(), self.number("I")
            if kind == _LIST:
                self.skip()
            else:
                yield key, self.value(kind)

    def value(self, kind: int) -> Any:
        return self.text() if kind == _TEXT else self.number(_NUMBERS[kind])

    def number(self, form: str) -> Any:
        (found,) = struct.unpack_from(f"<{form}", self.data, self.place)
        self.place += struct.calcsize(f"<{form}")
        return found

    def text(self) -> str:
        size = self.number("Q")
        start, self.place = self.place, self.place + size
        if self.place > len(self.data):
            raise ValueError
        return self.data[start : self.place].decode("utf-8")

    def skip(self) -> None:
        """Past a list; those of tokens are long."""
        kind, count = self.number("I"), self.number("Q")
        if kind == _TEXT:
            for _ in range(count):
                self.place += 8 + struct.unpack_from("<Q", self.data, self.place)[0]
        else:
            self.place += count * struct.calcsize(f"<{_NUMBERS[kind]}")
