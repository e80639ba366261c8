# SPDX-License-Identifier: Apache-2.0
"""Launch files: what they say, and one clear line for every mistake."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from npuforge.errors import UsageError
from npuforge.twin.launch import (
    ListArgument,
    ScalarArgument,
    TensorArgument,
    TilingArgument,
    WorkspaceArgument,
)
from npuforge.twin.launch_file import load

_TENSOR = '[[argument]]\nname="x"\nshape=[4]\ndtype="float32"\n'


def _write(folder: Path, text: str, name: str = "launch.toml") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_every_kind_of_argument(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(6, dtype=np.int32).reshape(2, 3))
    (tmp_path / "y.bin").write_bytes(np.ones(3, np.float16).tobytes())
    path = _write(
        tmp_path,
        """
blocks = 3
key = 7
[[argument]]
name = "x"
shape = [2, 3]
dtype = "int32"
data = "x.npy"
[[argument]]
name = "y"
shape = [3]
dtype = "half"
role = "inout"
data = {file = "y.bin"}
[[argument]]
kind = "list"
name = "many"
tensors = [{shape = [2], dtype = "float32", data = [1, 2]}, {shape = [1], dtype = "bf16"}]
[[argument]]
kind = "workspace"
bytes = 1024
[[argument]]
kind = "tiling"
fields = [["n", "uint8", 5], ["total", "uint64", 9], ["parts", "int16", [1, -2, 3]]]
[[argument]]
kind = "scalar"
dtype = "float32"
value = 1.5
[[argument]]
kind = "absent"
""",
    )
    (case,) = load(path)
    assert case.launch is not None
    assert (case.launch.blocks, case.launch.key) == (3, 7)
    x, y, many, workspace, tiling, scalar, _absent = case.launch.arguments
    assert isinstance(x, TensorArgument)
    assert x.data is not None
    assert x.data.data.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert isinstance(y, TensorArgument)
    assert y.role == "inout"
    assert isinstance(many, ListArgument)
    assert [tensor.name for tensor in many.tensors] == ["many[0]", "many[1]"]
    assert workspace == WorkspaceArgument("argument4", 1024)
    assert tiling == TilingArgument("argument5", struct.pack("<B7xQ3h2x", 5, 9, 1, -2, 3))
    assert scalar == ScalarArgument("argument6", struct.pack("<f", 1.5))
    assert [tensor.name for tensor in case.launch.outputs] == ["y"]


def test_yaml_and_cases_share_what_stands_above(tmp_path: Path) -> None:
    path = _write(
        tmp_path,
        """
argument: [{name: x, shape: [4], dtype: float32, data: arange}]
tolerance: {rtol: 0.1}
case: [{blocks: 1}, {blocks: 2, name: second}]
""",
        "launch.yaml",
    )
    first, second = load(path)
    assert first.launch is not None
    assert second.launch is not None
    assert (first.launch.blocks, second.launch.blocks) == (1, 2)
    assert second.name == "second"
    assert second.tolerance is not None
    assert second.tolerance.rtol == 0.1


def test_random_data_is_the_same_every_time_and_differs_by_name(tmp_path: Path) -> None:
    text = "blocks=1\n" + _TENSOR + _TENSOR.replace('"x"', '"y"')
    loads = [load(_write(tmp_path, text))[0].launch for _ in range(2)]
    values = [[t.data.data.tolist() for t in one.tensors() if t.data] for one in loads if one]
    assert values[0] == values[1]
    assert values[0][0] != values[0][1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("block = 1", "unknown key 'block'"),
        (_TENSOR, "lacks 'blocks'"),
        ("blocks = 0", "1 to 65535 blocks, not 0"),
        ('blocks = "4"', "blocks: '4' is not a whole number"),
        ('blocks=1\n[[argument]]\nname="x"\ndtype="half"', "x lacks 'shape'"),
        ('blocks=1\n[[argument]]\nname="x"\nshape=[1]', "x lacks 'dtype'"),
        ('blocks=1\n[[argument]]\nname="x"\nshape=[1]\ndtype="f8"', "unknown dtype 'f8'"),
        ('blocks=1\n[[argument]]\nname="x"\nshape=[-1]\ndtype="half"', r"shape \[-1\] is not poss"),
        ('blocks=1\n[[argument]]\nkind="thing"', "unknown kind 'thing'"),
        ("blocks=1\n" + _TENSOR + 'role="output"', "role is one of in, out, inout"),
        ("blocks=1\n" + _TENSOR + 'data="rnd"', "unknown data 'rnd'"),
        ("blocks=1\n" + _TENSOR + 'data="none.bin"', "cannot read .*none.bin: No such file"),
        ("blocks=1\n" + _TENSOR + 'data="short.bin"', "has 4 bytes, shape .* takes 16"),
        ("blocks=1\n" + _TENSOR + "data=[1, 2]", "2 values for shape"),
        ("blocks=1\n" + _TENSOR + _TENSOR, "two tensors of the launch are called 'x'"),
        ('blocks=1\n[[argument]]\nkind="scalar"\ndtype="int8"\nvalue=300', "does not fit int8"),
        ('blocks=1\n[[argument]]\nkind="tiling"', "exactly one of fields, file or hex"),
        ('blocks=1\n[[argument]]\nkind="tiling"\nhex="0g"', "hex is not a string of hex"),
        ('blocks=1\n[[argument]]\nkind="tiling"\nfields=[["n"]]', r"a field is \[name, type, val"),
        ('blocks=1\n[expected]\nz="x"', "expected 'z' is no output"),
        ('blocks=1\nreference="ref.py"', "the form file.py::function"),
        ('blocks=1\nreference="ref.py::f"', "no such reference file"),
        ("blocks=1\n[[input]]\nshape=[1]", "describes a kernel launch"),
        ("blocks = = 1", "launch.toml: "),
    ],
)
def test_mistakes_get_one_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "short.bin").write_bytes(b"1234")
    with pytest.raises(UsageError, match=message) as caught:
        load(_write(tmp_path, text))
    assert "\n" not in str(caught.value)
