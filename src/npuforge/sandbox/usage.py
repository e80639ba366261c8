# SPDX-License-Identifier: Apache-2.0
"""Use of a process tree in all: processes, threads, memory, and files in the folders it writes.

A part of the supervisor (`supervisor.py` says how it gets there); it imports as little. No limit of
the kernel counts these for a whole tree without rights that we lack, so they are sampled:

    processes, threads, memory   at every sample
    free space and free inodes   at every sample, and a scan follows if what is gone since the last
                                 scan could exceed what is left of a limit; others use the same file
                                 system, so that this starts a scan and decides nothing
    a scan                       walks the folders and looks for files that are unlinked but open,
                                 at least every quarter of a second unless it takes long itself

A name says nothing here: folders are opened relative to the one above and links are not followed.
"""

import os
import stat
import time

_PAGE = os.sysconf("SC_PAGE_SIZE")
_SCAN_S = 0.25
_SCAN_SHARE = 20  # a scan takes at most this part of the time
_URGENT_SHARE = 2
_DEEPEST = 64  # folders nested deeper count as too many files
_BLOCK = 512
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CHILDREN_LISTED = os.path.exists("/proc/thread-self/children")


def _children(pid: int, most: int) -> tuple[list[int], int]:
    """Return the children and the number of threads; no children if the threads exceed `most`."""
    found: list[int] = []
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
        if not _CHILDREN_LISTED:
            return _children_by_scan(pid), len(tasks)
        if len(tasks) <= most:
            for task in tasks:
                with open(f"/proc/{pid}/task/{task}/children") as listing:
                    found += [int(word) for word in listing.read().split()]
    except OSError:
        return found, 0
    return found, len(tasks)


def _children_by_scan(pid: int) -> list[int]:
    """Return the children, for kernels built without the `children` listing."""
    found: list[int] = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as line:
                    parent = line.read().rpartition(")")[2].split()[1]
            except OSError:
                continue
            if int(parent) == pid:
                found.append(int(name))
    return found


def descendants(pid: int, most_threads: int) -> tuple[list[int], int]:
    """Return the processes below `pid` and their threads; counting ends above `most_threads`."""
    found, _ = _children(pid, most_threads)
    threads = 0
    for child in found:  # grows while it is walked
        below, count = _children(child, most_threads)
        found += below
        threads += count
        if threads > most_threads:
            break
    return found, threads


def _resident(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm") as sizes:
            return int(sizes.read().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _proportional(pid: int) -> int:
    """Return the resident size with each shared page divided among the processes that have it."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as sizes:
            for line in sizes:
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return _resident(pid)


class _Sum:
    """Bytes and number of files, each file once; stops growing above `most` files."""

    def __init__(self, most: int) -> None:
        self.bytes = 0
        self.files = 0
        self.most = most
        self.seen: set[tuple[int, int]] = set()

    @property
    def full(self) -> bool:
        return self.files > self.most

    def add(self, status: os.stat_result) -> None:
        if status.st_nlink != 1 and not stat.S_ISDIR(status.st_mode):
            key = (status.st_dev, status.st_ino)
            if key in self.seen:
                return
            self.seen.add(key)
        self.files += 1
        self.bytes += status.st_blocks * _BLOCK

    def walk(self, folder: int, depth: int = 0) -> None:
        """Add everything below the folder that the descriptor `folder` stands for."""
        if depth > _DEEPEST:
            self.files = self.most + 1
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if self.full:
                        return
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except OSError:
                        continue  # gone meanwhile
                    self.add(status)
                    if stat.S_ISDIR(status.st_mode):
                        self._walk_inner(entry.name, folder, depth)
        except OSError:
            pass

    def _walk_inner(self, name: str, folder: int, depth: int) -> None:
        try:
            inner = _opened(name, folder)
        except OSError:
            return
        try:
            self.walk(inner, depth + 1)
        finally:
            os.close(inner)

    def add_unlinked(self, pid: int) -> bool:
        """Add files that have no name any more but are open; tell whether all can be seen."""
        try:
            for number in os.listdir(f"/proc/{pid}/fd"):
                try:
                    status = os.stat(f"/proc/{pid}/fd/{number}")
                except OSError:
                    continue
                if status.st_nlink == 0 and stat.S_ISREG(status.st_mode):
                    self.add(status)
        except PermissionError:
            return _resident(pid) == 0  # it is ending; any other one hides its files
        except OSError:
            pass
        return True

    def find_mapped(self, pid: int) -> str:
        """Name what maps hold that no descriptor shows: "files", "memory" or nothing."""
        found = ""
        try:
            with open(f"/proc/{pid}/maps", "rb") as maps:
                for line in maps.read().split(b"\n"):
                    if line.endswith(b" (deleted)"):
                        words = line.split(None, 5)
                        if words[5].startswith(b"/dev/zero"):
                            return "memory"  # shared memory outlives the pages that are mapped
                        numbers = {number for _, number in self.seen}
                        found = found if int(words[4]) in numbers else "files"
        except (OSError, IndexError, ValueError):
            pass
        return found


def _opened(name: str, folder: int) -> int:
    """Open a folder, giving its owner back the rights that its maker left out."""
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except PermissionError:
        handle = os.open(name, os.O_PATH | _FOLDER, dir_fd=folder)
        try:
            os.chmod(f"/proc/self/fd/{handle}", 0o700)
        finally:
            os.close(handle)
        return os.open(name, _FOLDER, dir_fd=folder)


class Usage:
    """The use of a tree against its limits; made before the command starts."""

    def __init__(self, job: dict) -> None:  # type: ignore[type-arg]
        self.peak_resident = 0
        self._memory: int = job["memory_bytes"]
        self._processes: int = job["processes"] + job["own_processes"]
        self._threads: int = job["threads"] + job["own_processes"]
        self._folders = [os.open(path, _FOLDER) for path in job["watched"]]
        self._systems = list({os.fstat(folder).st_dev: folder for folder in self._folders}.values())
        before = self._walked(1 << 62)
        self._most_bytes: int = before.bytes + job["disk_bytes"]
        self._most_files: int = before.files + job["files"]
        self._room = (job["disk_bytes"], job["files"])
        self._free = self._free_at_start = self._measure_free()
        self._scan_at = time.monotonic() + _SCAN_S
        self._urgent_at = 0.0
        self._exact_at = 0.0

    def exceeded(self, root: int) -> str | None:
        """Return the limit that the processes below `root` exceed."""
        tree, threads = descendants(root, self._threads)
        if threads > self._threads:
            return "threads"
        if len(tree) > self._processes:
            return "processes"
        sizes = [_resident(pid) for pid in tree]
        self.peak_resident = max(self.peak_resident, *sizes, 0)
        if sum(sizes) > self._memory and self._exact_memory(tree) > self._memory:
            return "memory"
        return self._over_disk(tree)

    def exceeded_at_end(self) -> str | None:
        """Return the limit that a command exceeds which ended between two samples."""
        return self._over_disk([])

    def _exact_memory(self, tree: list[int]) -> int:
        """Count what processes share once; that takes long, so it is not done at every sample."""
        begun = time.monotonic()
        if begun < self._exact_at:
            return 0
        total = sum(_proportional(pid) for pid in tree)
        ended = time.monotonic()
        self._exact_at = ended + _URGENT_SHARE * (ended - begun)
        return total

    def _over_disk(self, tree: list[int]) -> str | None:
        begun = time.monotonic()
        free = self._measure_free()
        gone = [before - now for before, now in zip(self._free, free, strict=True)]
        urgent = any(lost >= left for lost, left in zip(gone, self._room, strict=True))
        if begun < (self._urgent_at if urgent else self._scan_at):
            return None
        reason = self._scan(tree, free)
        self._free = free
        ended = time.monotonic()
        self._scan_at = ended + max(_SCAN_S, _SCAN_SHARE * (ended - begun))
        self._urgent_at = ended + _URGENT_SHARE * (ended - begun)
        return reason

    def _scan(self, tree: list[int], free: tuple[int, int]) -> str | None:
        total = self._walked(self._most_files)
        for pid in tree:
            if not total.add_unlinked(pid):
                return "files"
        mapped = {total.find_mapped(pid) for pid in tree}
        if "memory" in mapped:
            return "memory"
        if "files" in mapped:  # of unknown size: all that is gone is taken for theirs
            total.bytes = max(total.bytes, self._free_at_start[0] - free[0])
        if total.full:
            return "files"
        if total.bytes > self._most_bytes:
            return "disk"
        self._room = (self._most_bytes - total.bytes + 1, self._most_files - total.files + 1)
        return None

    def _walked(self, most: int) -> _Sum:
        total = _Sum(most)
        for folder in self._folders:
            total.walk(folder)
        return total

    def _measure_free(self) -> tuple[int, int]:
        free_bytes = free_files = 0
        for folder in self._systems:
            numbers = os.fstatvfs(folder)
            free_bytes += numbers.f_bfree * numbers.f_frsize
            free_files += numbers.f_ffree
        return free_bytes, free_files
