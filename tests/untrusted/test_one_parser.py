# SPDX-License-Identifier: Apache-2.0
"""Documents of strangers are parsed in one module; other parsers read what the package ships."""

from __future__ import annotations

import re
from pathlib import Path

_SOURCE = Path(__file__).parents[2] / "src" / "npuforge"
_PARSERS = re.compile(r"\byaml\.|\btomllib\.|\bjson\.loads?\(|\bast\.(parse|literal_eval)\(")

# Data of the package, files that the trusted side wrote itself, scripts inside the sandbox, and a
# literal in a tree that `syntax` parsed.
_OWN_DATA = {
    "bench/modules/reference_script.py", "bench/suites/cannbench/protocol.py",
    "bench/suites/multikernelbench/groups.py", "bench/suites/npukernelbench/known.py",
    "bench/tables/worker.py", "eager/parameters.py", "eager/table.py", "lower/library/__init__.py",
    "rules/catalogue.py", "soc/data.py", "spec/capture_worker.py", "tile/ops.py",
    "train/dataset/variants.py", "twin/lint/names.py", "twin/numerics.py",
    "twin/reference_worker.py", "twin/sources/answer_text.py", "twin/timing/replay.py",
    "twin/torchbind/worker.py",
}  # fmt: skip


def test_documents_are_parsed_in_one_module() -> None:
    found = {
        path.relative_to(_SOURCE).as_posix()
        for path in _SOURCE.rglob("*.py")
        if _PARSERS.search(path.read_text("utf-8"))
    }
    assert found - _OWN_DATA == {"untrusted/documents.py", "syntax.py"}
