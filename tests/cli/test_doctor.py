# SPDX-License-Identifier: Apache-2.0
"""`npuforge doctor`: every finding comes with its remedy, and no secret is shown."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from npuforge.cli import doctor
from npuforge.cli.doctor import Check


def program(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No toolkit, no device, no endpoint, and an empty path to find programs in."""
    for name in ("ASCEND_HOME_PATH", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))


def named(name: str) -> Check:
    checks = {check.name: check for check in (make() for make in doctor.CHECKS)}
    return checks[name]


@pytest.mark.parametrize("name", ["CANN", "NPU", "model"])
def test_what_is_absent_is_optional_and_has_a_fix(name: str) -> None:
    check = named(name)
    assert not check.ok
    assert not check.required
    assert check.fix


@pytest.mark.parametrize("place", ["bin", "compiler/ccec_compiler/bin"])
@pytest.mark.parametrize("name", ["bisheng", "ccec"])
def test_the_toolkit_is_known_by_its_compiler(
    place: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = program(tmp_path / "cann" / place, name, "exit 0")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path / "cann"))
    check = named("CANN")
    assert check.ok
    assert str(made) in check.detail


def test_a_toolkit_without_compiler_cannot_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path))
    check = named("CANN")
    assert not check.ok
    assert check.fix is not None
    assert "runtime package" in check.fix


@pytest.mark.parametrize(
    ("script", "ok", "words"),
    [
        ("echo 'Total Count : 8'", True, "Total Count : 8"),
        ("exit 3", False, "npu-smi fails"),
        ("exit 0", False, "no device"),
    ],
)
def test_the_device_is_what_npu_smi_says(script: str, ok: bool, words: str, tmp_path: Path) -> None:
    program(tmp_path / "path", "npu-smi", script)
    check = named("NPU")
    assert check.ok is ok
    assert words in check.detail
    assert (check.fix is None) is ok


def test_an_endpoint_shows_its_host_and_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://user:hunter2@host.test:8000/v1?key=topsecret")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    check = named("model")
    assert check.ok
    assert check.detail == "host.test:8000, OPENAI_API_KEY set"


def test_an_endpoint_without_key_is_fine_but_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://localhost:9/")
    check = named("model")
    assert check.ok
    assert check.detail == "localhost:9, ANTHROPIC_API_KEY not set"
    assert check.fix is not None
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://[bad")
    assert "no URL" in named("model").detail


def test_another_torch_than_the_pinned_one_is_pointed_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert named("torch").fix is None
    monkeypatch.setattr(importlib.metadata, "version", lambda _: "2.1.0+cpu")
    check = named("torch")
    assert check.ok
    assert check.fix is not None
    assert check.fix.startswith("pip install torch==")


def absent(name: str) -> str:
    raise importlib.metadata.PackageNotFoundError(name)


def test_run_from_its_sources_nothing_is_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "requires", absent)
    check = named("torch")
    assert check.ok
    assert check.fix is None


def test_no_torch_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "version", absent)
    check = named("torch")
    assert not check.ok
    assert check.required
    assert check.fix is not None
