# SPDX-License-Identifier: Apache-2.0
"""Calls the host runner, which loads an operator's host library and answers in JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from npuforge.errors import UsageError
from npuforge.printable import one_line
from npuforge.sandbox import GIB, MIB, Limits, Sandbox
from npuforge.sandbox.messages import decode
from npuforge.sandbox.shared_folder import HostileFileError, SharedFolder
from npuforge.scratch import scratch_folder
from npuforge.soc import Soc, constants_text, load_soc
from npuforge.twin.recipes import HOST_RUNNER
from npuforge.twin.toolchain import Toolchain

DEFAULT_SOC = "910b2"

# The runner watches a child process; tiling functions compute for milliseconds.
_LIMITS = Limits(
    cpu_s=20,
    wall_s=30,
    memory_bytes=1 * GIB,
    processes=4,
    output_bytes=16 * MIB,
    file_bytes=64 * MIB,
)


def call(
    command: str,
    library: Path,
    *,
    request: str | None = None,
    files: Mapping[str, bytes] | None = None,
    readable: Sequence[Path] = (),
    soc: Soc | str = DEFAULT_SOC,
    sandbox: Sandbox | None = None,
    toolchain: Toolchain | None = None,
) -> dict[str, Any]:
    """The runner's answer; a library that never ends becomes the status "crashed".

    `files` are written beside the request, under the names the request uses.
    """
    library = library.absolute()
    if not library.is_file():
        raise UsageError(f"no such host library: {library}")
    chip = load_soc(soc) if isinstance(soc, str) else soc
    runner = (toolchain or Toolchain.find()).runtime() / HOST_RUNNER
    with scratch_folder("work") as scratch, SharedFolder(scratch) as folder:
        folder.write("soc.txt", constants_text(chip).encode())
        # A copy: the library's own folder then need not be shown to it.
        folder.write("host.so", library.read_bytes())
        argv = [str(runner), command, str(scratch / "host.so")]
        if request is not None:
            folder.write("request.txt", request.encode())
            argv.append(str(scratch / "request.txt"))
        for name, content in (files or {}).items():
            folder.write(name, content)
        done = (sandbox or Sandbox.detect()).run(
            argv,
            scratch=scratch,
            readable=[runner.parent, *readable],
            limits=_LIMITS,
            env={"NPUFORGE_SOC": str(scratch / "soc.txt")},
        )
    if done.returncode != 0:
        cause = done.killed_by or f"exit {done.returncode}"
        return _stopped(cause, done.stderr.decode(errors="replace"))
    try:  # the library may write there whatever it likes
        text = done.stdout.decode(errors="replace").encode()
        answer: dict[str, Any] = decode(text, dict[str, Any], "its answer")
    except HostileFileError as error:
        return _stopped(str(error), "")
    return answer


def _stopped(cause: str, said: str) -> dict[str, Any]:
    detail = one_line(said, 2000)
    message = f"the host code was stopped: {cause}" + (f" ({detail})" if detail else "")
    return {"status": "crashed", "message": message, "cause": cause, "log": []}
