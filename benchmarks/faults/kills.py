# SPDX-License-Identifier: Apache-2.0
"""Kill commands at random moments, give the same command again, and look for what the kill spoilt.

    python -m benchmarks.faults.kills [--kills 200] [--seed 0] [--at-once 1]
                                      [--commands generate,check,bench,dataset,knowledge]
                                      [--cache FOLDER]

KILL, TERM and INT in turn, each after a random share of the time that the command takes alone. INT
goes to the whole group, as from a terminal. Each command runs in a folder of its own, with its
own temporary folder and a copy of a build cache that holds the runtime alone (FOLDER, if it was
built there before). Afterwards:

    ends    the same command again ends as an undisturbed one: status, verdicts, files
    left    nothing is left: processes after five seconds, temporary and hidden files at the end

Exit status 1 if any kill spoilt anything.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_PROGRAM = (sys.executable, "-m", "npuforge.cli")
_GONE_S = 5.0
_LONGEST_S = 900.0
_LIST = ".npuforge.json"  # digests of a result, times included
_OF_THE_MOMENT = (
    "seconds",
    "report.html",
    ".sqlite",
    ".db",
    "log.txt",
    ".lock",
    "trace.json",
    "trace.json.gz",
    "generated.html",
    _LIST,
)

# Each command, and one that shows what it stored. Paths are in the folder where they run.
COMMANDS: dict[str, tuple[list[str], list[str] | None]] = {
    "generate": (
        ["generate", "softmax.py", "--tune", "0", "--out", "made", "--json", "verdict.json"],
        None,
    ),
    "check": (
        ["check", "rms_norm/rms_norm.cpp", "--launch", "rms_norm/launch.toml", "--json", "v.json"],
        None,
    ),
    "bench": (
        [
            *("bench", "forge", "--tasks", "math/x*", "--out", "run", "--resume", "--jobs", "2"),
            *("--json", "document.json", "--quiet"),
        ],
        None,
    ),
    "dataset": (["dataset", "build", "--out", "data", "--operators", "2", "--jobs", "2"], None),
    "knowledge": (
        ["knowledge", "add", "one.md", "two.md", "--store", "store.db"],
        ["knowledge", "export", "kept", "--store", "store.db"],
    ),
}


@dataclass(frozen=True, slots=True)
class End:
    """How a command ended: its status, and its files by name, less what depends on the moment."""

    status: int
    files: Mapping[str, str]


@dataclass(slots=True)
class Spoilt:
    """Findings after one kill; all empty if nothing was spoilt."""

    command: str
    number: signal.Signals
    after_s: float
    status: int | None = None
    faults: list[str] = field(default_factory=list)


class Place:
    """A folder for one command with all that it may write to."""

    def __init__(self, folder: Path, inputs: Path, cache: Path) -> None:
        self.folder = folder
        self.work = folder / "work"
        self.temporary = folder / "tmp"
        self.temporary.mkdir(parents=True)
        shutil.copytree(inputs, self.work)
        unfinished = shutil.ignore_patterns("tmp", "locks", ".*")
        shutil.copytree(cache, folder / "cache", copy_function=_linked, ignore=unfinished)
        self.environment = {
            **os.environ,
            "TMPDIR": str(self.temporary),
            "NPUFORGE_CACHE": str(folder / "cache"),
            "PYTHONPATH": "",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def start(self, words: Sequence[str]) -> subprocess.Popen[bytes]:
        with (self.folder / "errors.txt").open("ab") as errors:
            return subprocess.Popen(
                [*_PROGRAM, *words],
                cwd=self.work,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )

    def finish(self, command: str) -> End:
        """Run a command to its end."""
        words, shown = COMMANDS[command]
        status = self.start(words).wait(_LONGEST_S)
        if shown is not None:
            self.start(shown).wait(_LONGEST_S)
        return End(status, _contents(self.work))

    def processes(self) -> list[str]:
        """Name the processes that have this folder in their words, environment or paths."""
        marks = str(self.folder).encode()
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                words = (process / "cmdline").read_bytes()
                told = words + (process / "environ").read_bytes()
                if marks in told + os.fsencode(os.readlink(process / "cwd")):
                    found.append(f"{process.name} {words.decode(errors='replace')[:150]!r}")
        return found

    def leftovers(self) -> list[str]:
        """Name temporary files, and hidden ones beside results and in the cache."""
        found = [path for path in self.temporary.rglob("*") if path.name != "lock"]
        found = [path for path in found if path != self.temporary / f"npuforge-{os.getuid()}"]
        found += (self.folder / "cache" / "tmp").glob("*")
        for place in (self.work, self.folder / "cache"):
            found += [path for path in place.rglob(".*") if path.name not in (".lock", _LIST)]
            found += place.rglob("*.part")
        return [str(path.relative_to(self.folder)) for path in found]


def _contents(folder: Path) -> dict[str, str]:
    contents: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if not path.is_file() or path.name == ".lock":
            continue
        contents[name] = ""
        if not name.endswith(_OF_THE_MOMENT):
            text = path.read_text("utf-8", errors="replace")
            with suppress(ValueError):
                text = json.dumps(_lasting(json.loads(text)), sort_keys=True)
            contents[name] = text.replace(str(folder), "")
    return contents


def _lasting(value: Any) -> Any:
    """Return a document less the seconds that things took, and whether builds were found."""
    if isinstance(value, dict):
        return {name: _lasting(one) for name, one in value.items() if "seconds" not in name}
    return [_lasting(one) for one in value] if isinstance(value, list) else value


def _linked(source: str, target: str) -> str:
    """Link a file, which nobody changes in place; copy it if it lies on another disk."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target


class Sweep:
    """Undisturbed ends and times of commands, and kills that are compared with them."""

    def __init__(self, folder: Path, commands: Sequence[str], cache: Path | None) -> None:
        self._folder = folder
        self._inputs = folder / "inputs"
        self._cache = cache or folder / "cache"
        self._prepare()
        self.times: dict[str, float] = {}
        self.ends: dict[str, End] = {}
        for command in commands:
            place = self._place(f"undisturbed-{command}")
            started = time.monotonic()
            self.ends[command] = place.finish(command)
            self.times[command] = time.monotonic() - started
            if self.ends[command].status not in (0, 1):
                errors = (place.folder / "errors.txt").read_text("utf-8")
                raise SystemExit(f"{command} itself failed: {errors}")
            print(f"{command}: {self.times[command]:.1f} s undisturbed", flush=True)
            shutil.rmtree(place.folder, ignore_errors=True)

    def kill(self, turn: int, command: str, number: signal.Signals, share: float) -> Spoilt:
        """Kill one command, give it again, and compare."""
        place = self._place(f"kill-{turn}-{command}")
        result = Spoilt(command, number, share * self.times[command])
        child = place.start(COMMANDS[command][0])
        with suppress(subprocess.TimeoutExpired):
            result.status = child.wait(result.after_s)
        if result.status is None:
            (os.killpg if number is signal.SIGINT else os.kill)(child.pid, number)
            self._await_end(child, result)
        until = time.monotonic() + _GONE_S
        while (left := place.processes()) and time.monotonic() < until:
            time.sleep(0.1)
        result.faults += [f"process left: {one}" for one in left]
        self._compare(place, command, result)
        shutil.rmtree(place.folder, ignore_errors=True)
        return result

    def _await_end(self, child: subprocess.Popen[bytes], result: Spoilt) -> None:
        try:
            child.wait(30)
        except subprocess.TimeoutExpired:
            result.faults.append(f"did not end within 30 s of {result.number.name}")
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()

    def _compare(self, place: Place, command: str, result: Spoilt) -> None:
        again, expected = place.finish(command), self.ends[command]
        if again.status != expected.status:
            result.faults.append(f"again: status {again.status}, not {expected.status}")
        for name in sorted(again.files.keys() ^ expected.files.keys()):
            result.faults.append(f"{'lost' if name in expected.files else 'left'}: {name}")
        for name in again.files.keys() & expected.files.keys():
            if again.files[name] != expected.files[name]:
                result.faults.append(f"differs: {name}")
        result.faults += [f"left: {name}" for name in place.leftovers()]
        errors = (place.folder / "errors.txt").read_text("utf-8", errors="replace")
        if "Traceback" in errors:
            result.faults.append(f"traceback: {errors.strip().splitlines()[-1][:200]}")

    def _place(self, name: str) -> Place:
        return Place(self._folder / name, self._inputs, self._cache)

    def _prepare(self) -> None:
        self._inputs.mkdir()
        shutil.copy(ROOT / "examples" / "modules" / "softmax.py", self._inputs)
        shutil.copytree(ROOT / "examples" / "rms_norm", self._inputs / "rms_norm")
        entries = self._folder / "entries"
        environment = {**os.environ, "NPUFORGE_CACHE": str(self._cache)}
        export = [*_PROGRAM, "knowledge", "export", str(entries)]
        subprocess.run(export, check=True, stdout=subprocess.DEVNULL, env=environment)
        for name, file in zip(("one.md", "two.md"), sorted(entries.glob("*.md")), strict=False):
            # Under a name of its own, or the store has it from the beginning.
            known, new = f'id = "{file.stem}"', f'id = "{Path(name).stem}"'
            text = file.read_text("utf-8").replace(known, new, 1)
            (self._inputs / name).write_text(text, "utf-8")
        build = "from npuforge.twin.toolchain import Toolchain; Toolchain.find().runtime()"
        subprocess.run([sys.executable, "-c", build], check=True, env=environment)


def table(results: Sequence[Spoilt]) -> str:
    """Return a line for each command and signal: kills, those under way, and the spoilt."""
    lines = ["command    signal   kills  under way  spoilt"]
    for command in dict.fromkeys(result.command for result in results):
        for number in SIGNALS:
            some = [one for one in results if (one.command, one.number) == (command, number)]
            under_way = sum(one.status is None for one in some)
            spoilt = sum(bool(one.faults) for one in some)
            lines.append(f"{command:10} {number.name:8}{len(some):6}{under_way:11}{spoilt:8}")
    faults = Counter(
        f"{one.command} {one.number.name}: {fault.split('-')[0][:80]}"
        for one in results
        for fault in one.faults
    )
    return "\n".join(lines + [f"{count:4} x {fault}" for fault, count in faults.most_common()])


def sweep(
    folder: Path,
    kills: int,
    seed: int,
    commands: Sequence[str],
    at_once: int = 1,
    cache: Path | None = None,
) -> list[Spoilt]:
    """Make the kills; print each."""
    print(f"seed {seed}", flush=True)
    dice = random.Random(seed)
    given = Sweep(folder, commands, cache)
    turns = [
        (turn, commands[turn // len(SIGNALS) % len(commands)], SIGNALS[turn % len(SIGNALS)])
        for turn in range(kills)
    ]
    shares = [dice.uniform(0.02, 1.0) for _ in turns]
    said = threading.Lock()
    results: list[Spoilt] = []

    def made(turn: int) -> None:
        result = given.kill(*turns[turn], shares[turn])
        with said:
            results.append(result)
            how = "ended before" if result.status is not None else f"{result.after_s:.2f} s"
            what = "; ".join(result.faults) or "well"
            line = f"{len(results)} of {kills}: {result.command} {result.number.name} {how}: {what}"
            print(line, flush=True)

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(made, range(kills)))
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--commands", default=",".join(COMMANDS))
    parser.add_argument("--cache", type=lambda text: Path(text).absolute())
    given = parser.parse_args()
    commands = given.commands.split(",")
    if unknown := set(commands) - COMMANDS.keys():
        parser.error(f"no command {sorted(unknown)[0]}; there are {', '.join(COMMANDS)}")
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        results = sweep(Path(folder), given.kills, given.seed, commands, given.at_once, given.cache)
    print(table(results))
    return 1 if any(result.faults for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
