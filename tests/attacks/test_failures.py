# SPDX-License-Identifier: Apache-2.0
"""Ends without a result: one line, a status that says whose fault it is, nothing left behind."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from npuforge import cli
from npuforge.cli import main

_KEY = "sk-planted-0123456789"
_RAISED: list[BaseException] = []
_SOFTMAX = Path(__file__).parents[2] / "examples" / "tile" / "softmax.py"
_NPUFORGE = [sys.executable, "-m", "npuforge.cli"]


@click.command()
@click.argument("words", nargs=-1)
@click.option("--api-key")
@click.option("--json", "json_out")
def broken(**_: object) -> None:
    """Raise what the test wants."""
    raise _RAISED[-1]


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cli.COMMANDS, "broken", (f"{__name__}:broken", "Fail."))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("PLANTED_API_KEY", _KEY)


def test_an_unforeseen_error_is_three_and_its_details_are_private(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _RAISED.append(KeyError(f"a key {_KEY}\nand more"))
    other = "another-planted-secret"
    command = ["broken", "--api-key", other, f"http://me:{other}@host/", "--json", "-"]
    assert main(command) == 3
    said = capsys.readouterr()
    (report,) = (tmp_path / "state" / "npuforge").iterdir()
    assert report.stat().st_mode & 0o777 == 0o600
    assert said.err.count("\n") == 1
    assert str(report) in said.err
    assert json.loads(said.out)["code"] == "internal"
    details = report.read_text()
    assert "KeyError" in details
    assert "Traceback" in details
    assert "npuforge broken" in details
    for text in (details, said.err, said.out):
        assert _KEY not in text
        assert other not in text


def test_reports_do_not_pile_up(tmp_path: Path) -> None:
    _RAISED.append(KeyError("x"))
    for _ in range(30):
        assert main(["broken"]) == 3
    assert len(list((tmp_path / "state" / "npuforge").iterdir())) == 20


def test_a_report_has_a_place_without_a_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "state").write_text("a file")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    _RAISED.append(KeyError("x"))
    assert main(["broken"]) == 3
    assert "npuforge-errors-" in capsys.readouterr().err


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RecursionError(),
        BrokenPipeError(),
        *(
            OSError(number, os.strerror(number), "/some/file")
            for number in (errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EMFILE, errno.EDQUOT)
        ),
    ],
    ids=lambda error: f"{type(error).__name__} {error}",
)
def test_limits_of_the_machine_are_two(
    error: BaseException, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _RAISED.append(error)
    assert main(["broken", "--json=-"]) == 2
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert json.loads(said.out)["code"] == "limit"
    assert not (tmp_path / "state").exists()


def test_a_fault_of_the_call_is_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["lower", "none.py"], ["lower", "--no-such"], ["check", "none.cpp"]):
        assert main([*command, "--json", "-"]) == 2
        answer = json.loads(capsys.readouterr().out)
        assert answer["code"] == "usage"
        assert answer["error"]


def test_nobody_reads(tmp_path: Path) -> None:
    del tmp_path
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*_NPUFORGE, "lower", _SOFTMAX],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "nobody reads" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("json_out", [[], ["--json", "-"], ["--json", "/dev/full"]])
def test_a_full_output_is_one_line(json_out: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*_NPUFORGE, "lower", _SOFTMAX, *json_out],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "No space left" in done.stderr


def test_json_goes_through_a_pipe_but_waits_for_no_reader(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert main(["lower", str(_SOFTMAX), "--json", str(pipe)]) == 2
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert main(["lower", str(_SOFTMAX), "--json", str(pipe)]) == 0
    assert json.loads(os.read(reader, 1 << 16))["compiled"] is True
    os.close(reader)
    done = subprocess.run(
        [*_NPUFORGE, "lower", _SOFTMAX, "--after", "parse", "--json", "/dev/stdout"],
        capture_output=True,
        check=True,
    )
    assert b'"compiled": true' in done.stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_clears_up_and_has_its_status(number: int, tmp_path: Path) -> None:
    code = (
        "import signal, sys, time, click; from npuforge import cli\n"
        "from npuforge.scratch import scratch_folder\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup passes on that it is ignored\n"
        "@click.command()\n"
        "def slow():\n"
        "    with scratch_folder('slow') as place:\n"
        "        print(place, flush=True)\n"
        "        time.sleep(60)\n"
        "cli.COMMANDS['slow'] = ('__main__:slow', 'Wait.')\n"
        "sys.exit(cli.main(['slow']))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert process.stdout is not None
    place = Path(process.stdout.readline().strip())
    assert place.is_dir()
    started = time.monotonic()
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert time.monotonic() - started < 20
    assert process.returncode == 128 + number
    assert "Traceback" not in said
    assert not place.exists()
    assert [path.name for path in tmp_path.glob("npuforge-*/*") if path.name != "lock"] == []
