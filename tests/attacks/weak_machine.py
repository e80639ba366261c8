# SPDX-License-Identifier: Apache-2.0
"""Run the command line as on a machine without Landlock and without namespaces.

`python weak_machine.py WORDS...` refuses the calls that both need, as an old kernel does, and
becomes `npuforge WORDS...`. What it starts is refused them too.
"""

import ctypes
import os
import platform
import struct
import sys

_LOAD_NUMBER, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_NO_SUCH_CALL, _ALLOW = 0x00050000 | 38, 0x7FFF0000
_LANDLOCK_CREATE = 444
_MOUNT = {"x86_64": 165, "aarch64": 40}
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]


def main() -> None:
    """Never returns."""
    steps = [
        (_LOAD_NUMBER, 0, 0, 0),
        (_EQUAL, 1, 0, _LANDLOCK_CREATE),
        (_EQUAL, 0, 1, _MOUNT[platform.machine()]),
        (_RETURN, 0, 0, _NO_SUCH_CALL),
        (_RETURN, 0, 0, _ALLOW),
    ]
    code = b"".join(struct.pack("<HBBI", *step) for step in steps)
    prctl = ctypes.CDLL(None).prctl
    prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    assert prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
    filtering = _Program(len(steps), code)
    assert prctl(_SECCOMP, _FILTER, ctypes.addressof(filtering), 0, 0) == 0
    os.execv(sys.executable, [sys.executable, "-m", "npuforge.cli", *sys.argv[1:]])


if __name__ == "__main__":
    main()
