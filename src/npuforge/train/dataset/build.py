# SPDX-License-Identifier: Apache-2.0
"""The dataset: random operators grown in parallel, part by part, then put together.

A part is a range of operators and a file of its own, written when it is complete; what is there is
not done again, so that a run may be stopped at any time and resumed. Parts do not depend on each
other or on who made them, and are put together in order: the dataset follows from seed and count.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from itertools import count
from pathlib import Path

import msgspec

from npuforge.errors import UsageError
from npuforge.fileformat import DATASET_FOLDER
from npuforge.files import write_whole
from npuforge.train.dataset.grow import Grown, grow
from npuforge.train.pool import pool
from npuforge.untrusted.documents import decode_json
from npuforge.untrusted.inputs import is_plain_file, read_input

PART = 16  # operators
_SETTINGS = "settings.json"
_PART_BYTES = 1 << 30
Progress = Callable[[int, int], None]  # operators done, operators in all


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that determine the records of a folder."""

    seed: int = 0
    soc: str = "910b2"
    avoid: str = ""  # fingerprint of the structures that are avoided
    lessons: float = 1.0  # share of operators that give repairs and preferences too
    variants: int = 0  # graphs tried for each operator, interpreted only
    proven: float = 1.0  # share of operators that are proven; the others are interpreted only
    families: tuple[str, ...] = ()  # that operators are drawn of; nothing where of all


class Part(msgspec.Struct, frozen=True):
    """Grown operators of a range."""

    grown: list[Grown]


def part_file(folder: Path, number: int) -> Path:
    return folder / "parts" / f"{number:06d}.json"


def open_folder(folder: Path, settings: Settings) -> None:
    """Begin or resume; `UsageError` where the folder was begun with other settings."""
    file = folder / _SETTINGS
    try:
        if not file.exists():
            if folder.exists() and any(folder.iterdir()):
                raise UsageError(f"{folder} exists and holds no dataset; choose another --out")
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(file, DATASET_FOLDER.encode(settings))
        (folder / "parts").mkdir(exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {error.strerror}") from None
    known = DATASET_FOLDER.decode(read_input(file), Settings, folder)
    if known != settings:
        raise UsageError(f"{folder} was begun with other settings: {known}")


def grow_all(
    folder: Path,
    settings: Settings,
    operators: int,
    avoid: Collection[str],
    jobs: int,
    progress: Progress,
    limit_s: float = math.inf,
) -> None:
    """Grow what is missing of the first `operators`; nothing is begun after `limit_s` seconds."""
    deadline = time.monotonic() + limit_s
    open_folder(folder, settings)
    numbers = range(-(-operators // PART))
    missing = [number for number in numbers if _part(folder, number) is None]
    done = (len(numbers) - len(missing)) * PART
    progress(done, operators)
    if not missing:
        return
    with pool(jobs) as growers:
        waiting: set[Future[None]] = set()
        for number in missing:
            if len(waiting) >= jobs + 1:
                ended, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                done += _finish(ended)
                progress(done, operators)
            if time.monotonic() > deadline:
                break
            waiting.add(growers.submit(_grow_part, folder, settings, number, frozenset(avoid)))
        while waiting:
            ended, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            done += _finish(ended)
            progress(min(done, operators), operators)


def parts(folder: Path) -> Iterator[Part]:
    """Parts in their order, as far as they go without a gap."""
    for number in count():
        part = _part(folder, number)
        if part is None:
            return
        yield part


def _part(folder: Path, number: int) -> Part | None:
    """Return a part; None if there is none, or a damaged one, which is grown again."""
    file = part_file(folder, number)
    if not is_plain_file(file):
        return None
    try:
        return decode_json(read_input(file, _PART_BYTES), Part, file)
    except UsageError:
        return None


def _finish(ended: set[Future[None]]) -> int:
    for future in ended:
        future.result()
    return len(ended) * PART


def _grow_part(folder: Path, settings: Settings, number: int, avoid: frozenset[str]) -> None:
    first = number * PART
    grown = [
        grow(
            settings.seed,
            first + k,
            settings.soc,
            avoid,
            settings.lessons,
            settings.variants,
            settings.proven,
            settings.families,
        )
        for k in range(PART)
    ]
    write_whole(part_file(folder, number), msgspec.json.encode(Part(grown)))
