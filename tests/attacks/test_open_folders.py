# SPDX-License-Identifier: Apache-2.0
"""Attacks on what lies beside a file: keys of a home, hidden files of a project, everybody's files.

A file that a user names is shown to its sandbox with the folder around it. The attacker chooses the
file's content and, by a tutorial or a checkout, the place where the user puts it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from npuforge.sandbox import Limits, Sandbox
from npuforge.sandbox.means import MEANS, WEAK
from npuforge.sandbox.python import interpreter
from npuforge.untrusted.open_folder import opened

_LOOK = """
import sys
for name in sys.argv[1:]:
    try:
        print(open(name).read().strip())
    except OSError:
        print("closed")
"""
_STRONG = [name for name in MEANS if name not in WEAK]


def _seen(name: str, module: Path, *paths: Path) -> list[str]:
    sandbox = Sandbox.using(name)  # type: ignore[arg-type]
    if not sandbox.works():
        pytest.skip(f"no {name} here")
    scratch = module.parent.parent / "scratch"
    scratch.mkdir(exist_ok=True)
    done = sandbox.run(
        [sys.executable, "-I", "-S", "-c", _LOOK, *map(str, paths)],
        scratch=scratch,
        readable=interpreter(),
        opened=[module],
        limits=Limits(wall_s=60),
    )
    return done.stdout.decode().split()


def _place(folder: Path) -> Path:
    files = ("model.py", "other.py", "data.txt", ".ssh/id", ".env", "sub/data.txt", "sub/.env")
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("secret" if "/." in f"/{name}" else "open")
    return folder / "model.py"


@pytest.mark.parametrize("name", _STRONG)
def test_hidden_files_of_a_project_are_closed(name: str, tmp_path: Path) -> None:
    module = _place(tmp_path / "project")
    names = ("model.py", "other.py", "data.txt", "sub/data.txt", ".ssh/id", ".env", "sub/.env")
    seen = _seen(name, module, *(module.parent / one for one in names))
    assert seen == ["open"] * 4 + ["closed"] * 3


@pytest.mark.parametrize("name", _STRONG)
def test_a_home_is_not_opened(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = _place(tmp_path / "home")
    monkeypatch.setenv("HOME", str(module.parent))
    names = ("model.py", "other.py", "data.txt", "sub/data.txt", ".ssh/id")
    seen = _seen(name, module, *(module.parent / one for one in names))
    assert seen == ["open"] * 2 + ["closed"] * 3


@pytest.mark.parametrize("name", _STRONG)
def test_a_link_opens_nothing_outside(name: str, tmp_path: Path) -> None:
    module = _place(tmp_path / "project")
    outside = tmp_path / "secret.txt"
    outside.write_text("secret")
    (module.parent / "link.txt").symlink_to(outside)
    (module.parent / "hidden.txt").symlink_to(module.parent / ".env")
    seen = _seen(name, module, *(module.parent / one for one in ("link.txt", "hidden.txt")))
    assert seen == ["closed", "closed"]


@pytest.mark.parametrize("kind", ["home", "above a home", "everybody's", "hidden", "root"])
def test_shared_folders_show_sources_beside_the_file_only(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / (".config" if kind == "hidden" else "place")
    module = _place(folder)
    if kind == "root":
        module = Path("/model.py")
    home = {"home": folder, "above a home": folder / "sub"}.get(kind, tmp_path / "elsewhere")
    home.mkdir(exist_ok=True)
    monkeypatch.setenv("HOME", str(home))
    if kind == "everybody's":
        folder.chmod(0o1777)
    shown = opened([module])
    assert not shown.listed
    assert all(path.parent == module.parent and path.suffix == ".py" for path in shown.readable)


def test_a_folder_without_hidden_files_is_shown_whole(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("")
    assert tmp_path in opened([tmp_path / "model.py"]).readable


_LIST = "import os, sys; print(sorted(os.listdir(sys.argv[1])))"


@pytest.mark.parametrize("name", _STRONG)
@pytest.mark.parametrize("kind", ["project", "home"])
def test_names_are_listed_in_a_project_only(
    name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Imports of a module list its folder."""
    module = _place(tmp_path / kind)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "scratch").mkdir()
    sandbox = Sandbox.using(name)  # type: ignore[arg-type]
    if not sandbox.works():
        pytest.skip(f"no {name} here")
    done = sandbox.run(
        [sys.executable, "-I", "-S", "-c", _LIST, str(module.parent)],
        scratch=tmp_path / "scratch",
        readable=interpreter(),
        opened=[module],
    )
    if kind == "project":
        assert "'other.py'" in done.stdout.decode()
    else:
        assert ".ssh" not in done.stdout.decode()
        assert "data.txt" not in done.stdout.decode()
