# SPDX-License-Identifier: Apache-2.0
"""Columns as the trainers take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def dataset(columns: Mapping[str, Any], name: str) -> Any:
    """A `datasets.Dataset`. It is given a name, which must follow from what is in it: computing
    one pickles the table, and not every Python can."""
    import pyarrow as pa  # noqa: PLC0415
    from datasets import Dataset  # noqa: PLC0415
    from datasets.table import InMemoryTable  # noqa: PLC0415

    return Dataset(InMemoryTable(pa.table(dict(columns))), fingerprint=name[:16])
