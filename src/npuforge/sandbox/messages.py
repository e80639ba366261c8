# SPDX-License-Identifier: Apache-2.0
"""Messages of sandboxed processes: decoded into types whose numbers, lists and texts have bounds.

A message type is a `msgspec.Struct` that forbids unknown fields and is built from the bounded types
here. Whatever else a process sends ends in `HostileFileError`, in one short line.
"""

from __future__ import annotations

from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta

from npuforge.printable import one_line
from npuforge.sandbox.shared_folder import HostileFileError, SharedFolder

_T = TypeVar("_T")
_MOST = (1 << 63) - 1

Whole = Annotated[int, Meta(ge=-_MOST - 1, le=_MOST)]
Count = Annotated[int, Meta(ge=0, le=_MOST)]
Word = Annotated[str, Meta(max_length=256)]
Text = Annotated[str, Meta(max_length=1 << 16)]
Identifier = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}\Z")]


def decode(content: bytes | memoryview, kind: type[_T], what: str) -> _T:
    """Return the JSON text as a `kind`; `what` names the message in the error."""
    try:
        return msgspec.json.decode(content, type=kind)
    except RecursionError:
        raise HostileFileError(f"{what} is damaged: it is nested too deeply") from None
    except (msgspec.MsgspecError, ValueError) as error:
        raise HostileFileError(f"{what} is damaged: {one_line(str(error))}") from None


def read(folder: SharedFolder, name: str, kind: type[_T], limit: int) -> _T:
    """Return the message that lies in the folder as `name`."""
    return decode(folder.array(name, limit).data, kind, name)
