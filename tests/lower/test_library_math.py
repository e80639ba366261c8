# SPDX-License-Identifier: Apache-2.0
"""Functions of one and two arguments against torch in double precision."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import torch

from npuforge.lower.library import helper

from .library_probe import Array, Call, Probe, padded, pitch_of

SIZES = [1, 7, 64, 65, 1000]
# name: (reference, low, high, relative tolerance, absolute tolerance, special arguments)
UNARY: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], float, float, float, float, str]] = {
    "Sigmoid": (torch.sigmoid, -30, 30, 1e-6, 1e-30, "zi"),
    "Tanh": (torch.tanh, -12, 12, 1e-6, 0, "zis"),
    "Erf": (torch.erf, -5, 5, 1e-6, 0, "zis"),
    "Expm1": (torch.expm1, -20, 20, 1e-6, 0, "zis"),
    "Log1p": (torch.log1p, -0.99, 50, 1e-6, 0, "zs"),
    "Log2": (torch.log2, 0.01, 1000, 1e-6, 1e-6, ""),
    "Log10": (torch.log10, 0.01, 1000, 1e-6, 1e-6, ""),
    "Exp2": (torch.exp2, -126, 127.9, 1e-6, 0, "zi"),
    "Sin": (torch.sin, -3000, 3000, 1e-6, 4e-7, "z"),
    "Cos": (torch.cos, -3000, 3000, 1e-6, 4e-7, "z"),
    "Tan": (torch.tan, -1.5, 1.5, 2e-6, 0, "z"),
    "Asin": (torch.asin, -1, 1, 1e-6, 0, "zs"),
    "Acos": (torch.acos, -1, 1, 1e-6, 0, "z"),
    "Atan": (torch.atan, -50, 50, 1e-6, 0, "zis"),
    "Sinh": (torch.sinh, -80, 80, 1.5e-6, 0, "zis"),
    "Cosh": (torch.cosh, -80, 80, 1.5e-6, 0, "zi"),
    "Sign": (torch.sign, -2, 2, 0, 0, "zis"),
}
SPECIAL = {"z": [0.0], "i": [np.inf, -np.inf], "s": [1e-30, -1e-30, 1e-4, -1e-4, 0.3]}


def lanes(x: Array) -> Array:
    """A tile as it lies in memory: pad lanes of the last block hold something."""
    return padded(x, pitch_of(x.size, x.dtype))


@cache
def unary_probe() -> Probe:
    cases = {}
    for name in UNARY:
        work = "" if helper(f"Fp32{name}").scratch == "0" else ", work"
        cases[name] = (
            f"Fp32{name}(o.ReinterpretCast<float>(), x.ReinterpretCast<float>(), a[0]{work});"
        )
    return Probe([f"Fp32{name}" for name in cases], cases)


def test_functions_of_one_argument() -> None:
    rng = np.random.default_rng(7)
    calls: list[Call] = []
    wanted: list[tuple[str, Array, Array]] = []
    for name, (reference, low, high, _, _, special) in UNARY.items():
        for n in SIZES:
            x = rng.uniform(low, high, n).astype(np.float32)
            x[: n // 2] /= 16  # many small arguments
            if n > 64:
                more = [value for kind in special for value in SPECIAL[kind]]
                x[: len(more)] = more
            if name in ("Log2", "Log10"):
                x = np.maximum(x, np.float32(0.001))
            need = helper(f"Fp32{name}").scratch_bytes(n=n)
            calls.append(Call(name, [lanes(x)], [x.nbytes], [n], need))
            wanted.append((name, x, reference(torch.from_numpy(x).double()).numpy()))
    failures = []
    for (name, x, expected), (out,) in zip(wanted, unary_probe().run(calls), strict=True):
        got = out.view(np.float32)
        _, _, _, relative, absolute, _ = UNARY[name]
        with np.errstate(invalid="ignore", over="ignore"):
            expected32 = expected.astype(np.float32)
            error = np.abs(got - expected) - absolute
            bad = ~((error <= relative * np.abs(expected)) | (got == expected32))
        if bad.any():
            at = np.flatnonzero(bad)[:3]
            failures.append(f"{name} n={x.size} x={x[at]} got={got[at]} wanted={expected[at]}")
    assert not failures, "\n".join(failures)


def test_powers_at_the_ends() -> None:
    two = "o.ReinterpretCast<float>(), x.ReinterpretCast<float>(), y.ReinterpretCast<float>()"
    probe = Probe(["Fp32Pow"], {"Fp32Pow": f"Fp32Pow({two}, a[0], work);"})
    ends = [-np.inf, -2, -1, -0.5, 0, 0.5, 1, 2, np.inf]
    exponents = [-np.inf, -3, -2, -1.5, 0, 0.5, 2, 2.5, 3, 2.0**25, np.inf]
    base, exponent = (m.ravel().astype(np.float32) for m in np.meshgrid(ends, exponents))
    with np.errstate(all="ignore"):
        wanted = np.power(base.astype("f8"), exponent.astype("f8")).astype(np.float32)
    need = helper("Fp32Pow").scratch_bytes(n=base.size)
    call = Call("Fp32Pow", [lanes(base), lanes(exponent)], [base.nbytes], [base.size], need)
    ((out,),) = probe.run([call])
    np.testing.assert_allclose(out.view("f4"), wanted, rtol=3e-6)


def test_power_and_modulo() -> None:
    two = "o.ReinterpretCast<float>(), x.ReinterpretCast<float>(), y.ReinterpretCast<float>()"
    cases = {
        "Fp32Pow": f"Fp32Pow({two}, a[0], work);",
        "Fp32FloorMod": f"Fp32FloorMod({two}, a[0], work);",
    }
    probe = Probe(list(cases), cases)
    rng = np.random.default_rng(8)
    calls, wanted = [], []
    for n in SIZES:
        base = rng.uniform(-4, 4, n).astype(np.float32)
        whole = rng.integers(-5, 6, n).astype(np.float32)
        real = rng.uniform(-4, 4, n).astype(np.float32)
        with np.errstate(invalid="ignore"):
            cases_of = [
                ("Fp32Pow", base, whole, np.power(base.astype("f8"), whole)),
                ("Fp32Pow", base, real, np.power(base.astype("f8"), real)),
                ("Fp32FloorMod", base * 8, real + 5, np.mod(base.astype("f8") * 8, real + 5)),
            ]
        for case, x, y, expected in cases_of:
            need = helper(case).scratch_bytes(n=n)
            calls.append(Call(case, [lanes(x), lanes(y)], [x.nbytes], [n], need))
            wanted.append((case, expected))
    for (case, expected), (out,) in zip(wanted, probe.run(calls), strict=True):
        np.testing.assert_allclose(out.view("f4"), expected, rtol=3e-6, atol=1e-5, err_msg=case)
