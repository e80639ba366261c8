# SPDX-License-Identifier: Apache-2.0
"""The README's table: made of runs, put between its markers, repeatable."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from tests.bench.report.runs import EVIL, ended, good, seven_categories, task

from npuforge.bench.document import document
from npuforge.bench.report import markdown
from npuforge.bench.report.command import command, title
from npuforge.bench.report.run import Run
from npuforge.bench.settings import ModelSettings, Settings
from npuforge.cli.bench import bench
from npuforge.errors import UsageError
from npuforge.generate.lm.settings import EmbeddedSettings

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "readme_table.py"
CHOSEN = Settings(
    suite="npukernelbench", path="/home/me/suite", tasks="Math/*", answers="/tmp/mine", samples=5,
    interface="kernel", sizes="static", cases=3, protocol="paper", limit_s=60.0,
)  # fmt: skip


def run(settings: Settings) -> Run:
    tasks = [*seven_categories(), task("matmul/x")]
    attempts = [good(item.name, speedup=0.9) for item in tasks[:-1]]
    return Run("run", settings, tasks, [*attempts, ended("matmul/x", "unplanned")])


def table(settings: Settings) -> str:
    return markdown.put(f"{markdown.BEGIN}{markdown.END}", [markdown.section(run(settings))])


def test_rows_have_what_others_published_below() -> None:
    text = table(Settings(suite="multikernelbench", path="/secret", shapes="v0"))
    lines = text.splitlines()[1:]
    assert lines[2] == (
        "| **multikernelbench, shapes v0** | 53 | 98.1 % | 98.1 % | 98.1 % | 98.1 % | 0 % "
        "| 0.90x | 1 |"
    )
    assert lines[3].startswith("| its 7 categories | 52 | 100 % |")
    assert lines[4] == "| *AscendCraft* | 52 | 98.1 % | 90.4 % |  | 57.7 % | 46.2 % |  |  |"
    assert "npuforge bench multikernelbench --path CHECKOUT --shapes v0" in text
    assert "secret" not in text
    assert len({line.count("|") for line in lines[:6] if line.startswith("|")}) == 1


def test_only_rows_of_the_runs_change() -> None:
    text = f"before\n{table(Settings(suite='forge'))}\nafter\n"
    other = markdown.section(run(Settings(suite="kernelbench")))
    both = markdown.put(text, [other])
    assert all(line in both.splitlines() for line in text.splitlines())
    assert both.startswith("before\n")
    assert both.endswith("\nafter\n")
    assert markdown.put(both, [other]) == both
    changed = run(Settings(suite="kernelbench"))
    changed.attempts.pop()
    again = markdown.put(both, [markdown.section(changed)])
    rows = [line for line in again.splitlines() if "kernelbench" in line]
    assert len(rows) == 2  # a row and its command
    assert rows[0] not in both


def test_text_without_a_table_is_refused() -> None:
    empty = table(Settings(suite="forge"))
    for wrong in ("", markdown.BEGIN, f"{markdown.END}{markdown.BEGIN}", empty + empty):
        with pytest.raises(UsageError, match="there must be one"):
            markdown.put(wrong, [])
    with pytest.raises(UsageError, match="belong together"):
        markdown.put(empty.replace("npuforge bench", "bench"), [])


def test_foreign_words_stay_words() -> None:
    row = markdown.section(run(Settings(suite="forge", tasks=f"{EVIL}|`x`"))).rows[0]
    assert "<script" not in row.replace("\\<", "")
    assert "\x1b" not in row
    assert "\\|\\`x\\`" in row


def test_a_command_is_one_that_bench_takes() -> None:
    words = shlex.split(command(CHOSEN))
    context = bench.make_context("bench", words[2:])
    fields = {
        k: v for k, v in msgspec.to_builtins(CHOSEN).items() if k not in ("embedded", "isolation")
    }
    assert {name: context.params[name] for name in fields} == fields
    assert command(Settings(suite="forge")) == "npuforge bench forge"
    assert "/" not in command(CHOSEN, public=True).replace("Math/", "")
    assert title(CHOSEN).startswith("npukernelbench, tasks Math/*, answers ANSWERS, samples 5")


def test_commands_say_which_model_wrote() -> None:
    own = EmbeddedSettings(model="/home/me/m.gguf", samples=5)
    settings = Settings(suite="forge", strategy="lm", embedded=own)
    found = bench.make_context("bench", shlex.split(command(settings))[2:]).params
    assert (str(found["lm_model"]), found["lm_samples"]) == ("/home/me/m.gguf", 5)
    assert "/home" not in command(settings, public=True)
    assert title(settings) == "forge, strategy lm, embedded m.gguf"
    endpoint: dict[str, str | int | float | None] = {"model": "coder", "base_url": "http://me"}
    asked = ModelSettings(endpoint=endpoint, rounds=3, roles=("tester",), learn=True)
    settings = Settings(suite="forge", strategy="tile", model=asked)
    found = bench.make_context("bench", shlex.split(command(settings))[2:]).params
    assert (found["model"], found["rounds"], found["learn"]) == ("coder", 3, True)
    assert found["roles"] == "tester"
    assert "http" not in command(settings, public=True)


def test_the_script_writes_the_readme(tmp_path: Path) -> None:
    made = run(Settings(suite="forge"))
    written = tmp_path / "run.json"
    found = document(made.settings, made.tasks, made.attempts, [])
    written.write_bytes(msgspec.json.encode(found))
    readme = tmp_path / "README.md"
    readme.write_text(f"{markdown.BEGIN}\n{markdown.END}\n")
    call = [sys.executable, str(SCRIPT), str(written), "--file", str(readme)]
    subprocess.run(call, check=True, timeout=60)
    assert "| **forge** | 53 |" in readme.read_text()
    readme.write_text("no markers")
    done = subprocess.run(call, check=False, timeout=60, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
