# SPDX-License-Identifier: Apache-2.0
"""Chip data: complete, consistent, and understood by its names."""

from __future__ import annotations

from pathlib import Path

import pytest

from npuforge.errors import UsageError
from npuforge.soc import available, constants_text, load_soc

HOST_KEYS = (
    "cores.aic",
    "cores.aiv",
    "ub.bytes",
    "l1.bytes",
    "l0a.bytes",
    "l0b.bytes",
    "l0c.bytes",
    "l2.bytes",
    "bt.bytes",
    "libapi.workspace",
)


def test_five_chips() -> None:
    assert available() == ["910_93", "910b1", "910b2", "910b3", "910b4"]


@pytest.mark.parametrize("name", available())
def test_every_chip_has_what_the_host_side_reads(name: str) -> None:
    soc = load_soc(name)
    for key in HOST_KEYS:
        assert soc.number(key) > 0
    assert soc.aiv_cores == 2 * soc.aic_cores
    assert 1.0 < soc.clock_ghz < 2.5
    assert soc.l2_gbps > soc.hbm_gbps


@pytest.mark.parametrize(
    ("alias", "chip"),
    [
        ("Ascend910B2", "910b2"),
        ("ascend910b2c", "910b2"),
        ("910B4-1", "910b4"),
        ("Ascend910_9362", "910_93"),
    ],
)
def test_names_people_use(alias: str, chip: str) -> None:
    assert load_soc(alias).soc == chip


def test_unknown_chip_is_one_clear_line() -> None:
    with pytest.raises(UsageError, match="unknown chip 'h100'; known: 910_93, 910b1"):
        load_soc("h100")


def test_missing_constant_is_named() -> None:
    with pytest.raises(UsageError, match="no number for no_such"):
        load_soc("910b1").number("no_such")


def test_constants_file_holds_every_value(tmp_path: Path) -> None:
    soc = load_soc("910b4")
    path = tmp_path / "constants"
    path.write_text(constants_text(soc))
    lines = dict(line.split(" ", 1) for line in path.read_text().splitlines())
    assert set(lines) == set(soc.values)
    assert lines["soc"] == "910b4"
    assert float(lines["clock.mhz"]) == soc.number("clock.mhz")
    assert float(lines["cost.Exp.b16"]) == 4.0
    assert float(lines["cost.Tanh.per_element.b32"]) == 0.157
