# SPDX-License-Identifier: Apache-2.0
"""The only renderer of templates that a folder or a model's file brings: Jinja without its powers.

    SANDBOX  a template reaches no attribute by which code or files could be reached
    WITHIN   templates include plain files of their folders only, whatever links say
    BOUNDED  a text has at most 16 MiB, and operators repeat and raise nothing
A template that joins a text to itself again and again can still fill this process's memory.
Any failure of a template is a `UsageError` of one line.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import jinja2
from jinja2.filters import do_indent
from jinja2.sandbox import ImmutableSandboxedEnvironment

from npuforge.errors import UsageError
from npuforge.untrusted.inputs import lies_within, read_text

_MOST = 16 << 20
_MOST_INDENTED = 200
_LARGEST = 1 << 128


class Templates(ImmutableSandboxedEnvironment):
    """Templates of some folders, the first one first; `options` are Jinja's."""

    intercepted_binops = frozenset(("*", "**", "%"))
    _operators: ClassVar[Mapping[str, Callable[[Any, Any], Any]]] = {
        "*": operator.mul,
        "**": operator.pow,
        "%": operator.mod,
    }

    def __init__(self, folders: Sequence[Path] = (), **options: Any) -> None:
        self._folders = tuple(folders)
        super().__init__(loader=jinja2.FunctionLoader(self._source), **options)
        for name in ("center", "format"):  # they pad to any width
            del self.filters[name]
        self.filters["indent"] = _indented

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:  # noqa: ARG002
        """Calculate with numbers of bounded size; nothing else is multiplied."""
        numbers = all(isinstance(value, int | float) for value in (left, right))
        if not numbers or max(abs(left), abs(right)) > _LARGEST or operator == "**":
            raise jinja2.TemplateRuntimeError(f"no {operator} of these values")
        return self._operators[operator](left, right)

    def is_safe_callable(self, obj: Any) -> bool:
        """Tell whether a template may call `obj`: no method that pads a text to any width."""
        padding = ("center", "ljust", "rjust", "zfill", "expandtabs", "format", "format_map")
        name, owner = getattr(obj, "__name__", ""), getattr(obj, "__self__", None)
        if isinstance(owner, str) and name in padding:
            return False
        return super().is_safe_callable(obj)

    def text(self, source: jinja2.Template, what: str, /, **values: Any) -> str:
        """Return what a template makes of the values; `what` names it in messages."""
        parts: list[str] = []
        left = _MOST
        try:
            for part in source.generate(**values):
                parts.append(part)
                left -= len(part)
                if left < 0:
                    raise UsageError(f"{what} makes more than {_MOST} characters")
        except UsageError:
            raise
        except Exception as error:  # of any type: the template is a stranger's
            raise _failure(what, error) from None
        return "".join(parts)

    def named(self, name: str, what: str, /, **values: Any) -> str:
        """Return the text of a template of the folders."""
        try:
            source = self.get_template(name)
        except UsageError:
            raise
        except Exception as error:  # of any type: the template is a stranger's
            raise _failure(what, error) from None
        return self.text(source, what, **values)

    def written(self, text: str, what: str, /, **values: Any) -> str:
        """Return the text of a template that is given as text."""
        try:
            source = self.from_string(text)
        except Exception as error:  # of any type: the template is a stranger's
            raise _failure(what, error) from None
        return self.text(source, what, **values)

    def _source(self, name: str) -> str | None:
        for folder in self._folders:
            place = folder / name
            if place.exists() and (name.count("/") == 0 or lies_within(folder, place)):
                return read_text(place, _MOST, within=folder)
        return None


def _indented(text: str, width: int = 4, first: bool = False, blank: bool = False) -> str:
    """Indent lines, as Jinja does, by a bounded width."""
    if not isinstance(width, int) or not 0 <= width <= _MOST_INDENTED:
        raise jinja2.TemplateRuntimeError("an indentation has 0 to 200 blanks")
    return do_indent(text, width, first, blank)


def _failure(what: str, error: Exception) -> UsageError:
    return UsageError(f"{what} fails: {str(error) or type(error).__name__}")
