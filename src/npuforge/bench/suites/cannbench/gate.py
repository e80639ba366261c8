# SPDX-License-Identifier: Apache-2.0
"""CANN Bench's accuracy gate, for one output.

A result is held against the reference in double precision, rounded to the result's own type. The
relative error must stay below a bound in the mean and below a multiple of it everywhere. Where that
fails, elements are counted in three regions, and each region may have at most twice as many errors
as the reference in the result's own precision has there:

* small: the reference is nearly zero, errors are absolute;
* cancelled: reference and result are near zero, as when large terms cancel;
* normal: everything else, and only where the same-precision reference is itself beyond the bound.

Everything is a count, a sum or a largest value, so that large tensors are judged piece by piece.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import torch

from npuforge.bench.suites.cannbench import protocol

_PIECE = 1 << 18  # a piece in double precision stays in the cache
_BITS = {
    torch.float16: torch.int16,
    torch.bfloat16: torch.int16,
    torch.float32: torch.int32,
    torch.float64: torch.int64,
}
_WHOLE = (
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.uint8,
    torch.uint16,
    torch.uint32,
    torch.uint64,
)


@dataclass(frozen=True, slots=True)
class Judged:
    """`structural`: not a wrong number but a wrong shape or layout, which costs more.

    Errors are those of all elements that have a number; None where none was taken.
    """

    passed: bool
    message: str = ""
    structural: bool = False
    mean: float | None = None
    largest: float | None = None


@dataclass(slots=True)
class _Region:
    """Elements of a kind: how many are off in the result, and in the same-precision reference."""

    elements: int = 0
    given: int = 0
    native: int = 0

    def add(self, where: torch.Tensor, given: torch.Tensor, native: torch.Tensor) -> None:
        self.elements += int(where.sum())
        self.given += int((where & given).sum())
        self.native += int((where & native).sum())

    def within(self, ratio: float) -> bool:
        return self.given / max(self.native, 1) <= ratio


def judge(
    given: torch.Tensor,
    golden: torch.Tensor,
    native: Callable[[], torch.Tensor | None] = lambda: None,
    thresholds: Mapping[str, float] | None = None,
) -> Judged:
    """`given` against `golden` (in double precision); `native` computes the reference in its own
    type, which only few results need.

    `thresholds` are the operator's own bounds of the mean, by element type.
    """
    if given.shape != golden.shape:
        shapes = f"{list(given.shape)} instead of {list(golden.shape)}"
        return Judged(False, f"the shape is {shapes}", structural=True)
    if not given.is_contiguous():
        return Judged(False, "the result is a view, not a contiguous tensor", structural=True)
    numbers = protocol.load()
    name = str(given.dtype).removeprefix("torch.")
    whole = given.dtype in _WHOLE
    own = dict(thresholds or {})
    bound = own.get(name, 0.0 if whole else numbers.bounds(name).mean)
    if whole:
        return _whole_numbers(given, golden, bound)
    if bound == 0 and given.dtype in _BITS:
        return _bit_by_bit(given, golden)
    return _Float(given, golden, native, bound, numbers, numbers.bounds(name)).judged()


def _whole_numbers(given: torch.Tensor, golden: torch.Tensor, allowed: float) -> Judged:
    apart = 0
    most = 0
    for one, other in _pieces(given, golden):
        off = (one.to(torch.int64) - other.to(torch.int64)).abs()
        apart += int((off > max(allowed, 0)).sum())
        most = max(most, int(off.max())) if off.numel() else most
    if apart:
        said = f"{apart} of {given.numel()} whole numbers differ by more than {allowed:g}"
        return Judged(False, said, largest=float(most))
    return Judged(True, largest=float(most))


def _bit_by_bit(given: torch.Tensor, golden: torch.Tensor) -> Judged:
    kind = _BITS[given.dtype]
    apart = sum(
        int((one.view(kind) != other.to(given.dtype).contiguous().view(kind)).sum())
        for one, other in _pieces(given, golden)
    )
    if apart:
        return Judged(False, f"{apart} of {given.numel()} elements differ in their bits")
    return Judged(True, mean=0.0, largest=0.0)


def _pieces(*tensors: torch.Tensor) -> Iterator[tuple[torch.Tensor, ...]]:
    flat = [tensor.detach().reshape(-1) for tensor in tensors]
    for start in range(0, flat[0].numel(), _PIECE):
        yield tuple(tensor[start : start + _PIECE] for tensor in flat)


class _Float:
    """A floating result; a first pass measures, a second one counts where that did not do."""

    def __init__(
        self,
        given: torch.Tensor,
        golden: torch.Tensor,
        native: Callable[[], torch.Tensor | None],
        bound: float,
        numbers: protocol.Protocol,
        bounds: protocol.Bounds,
    ) -> None:
        self.given, self.golden, self.native = given, golden, native
        self.bound = bound
        self.most = numbers.gate.most_of_mean * bound
        self.gate = numbers.gate
        self.bounds = bounds

    def judged(self) -> Judged:
        total, count, largest = 0.0, 0, 0.0
        for given, golden in _pieces(self.given, self.golden):
            prepared = self._prepared(given, golden)
            if isinstance(prepared, str):
                return Judged(False, prepared)
            _, _, relative, valid = prepared
            known = relative if valid is None else relative[valid]
            count += known.numel()
            total += float(known.sum())
            largest = max(largest, float(known.max())) if known.numel() else largest
        if count == 0:  # only infinities and not-a-number, all in their places
            return Judged(True)
        mean = total / count
        if mean < self.bound and largest < self.most:
            return Judged(True, mean=mean, largest=largest)
        return self._counted(mean, largest)

    def _prepared(
        self, given: torch.Tensor, golden: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor | None] | str:
        """Result, reference, relative error, and where it is a number (None: everywhere); or what
        is wrong."""
        want = golden.to(given.dtype).double()
        got = given.double()
        if bool((got.sum() + want.sum()).isfinite()):  # then every number is
            return got, want, (got - want).abs_().div_(want.abs().add_(self.gate.guard)), None
        if bool((got.isnan() != want.isnan()).any()):
            return "not-a-number is not where the reference has it"
        endless, wanted = got.isinf(), want.isinf()
        both = endless & wanted
        if bool((got[both].sign() != want[both].sign()).any()):
            return "an infinity has the wrong sign"
        if bool((endless ^ wanted).any()):  # saturation: judged as the largest number there is
            floating = given.dtype.is_floating_point
            limit = torch.finfo(given.dtype).max if floating else 1.0
            got = torch.where(endless & ~both, got.sign() * limit, got)
            want = torch.where(wanted & ~both, want.sign() * limit, want)
        relative = (got - want).abs() / (want.abs() + self.gate.guard)
        return got, want, relative, relative.isfinite() & ~both

    def _counted(self, mean: float, largest: float) -> Judged:
        small, cancelled, normal = _Region(), _Region(), _Region()
        native = self.native()
        if native is None or native.shape != self.golden.shape:
            native = self.golden.to(self.given.dtype)
        for given, golden, plain in _pieces(self.given, self.golden, native):
            prepared = self._prepared(given, golden)
            assert not isinstance(prepared, str)
            got, want, relative, some = prepared
            valid = torch.ones_like(relative, dtype=torch.bool) if some is None else some
            apart = (plain.double() - want).abs()
            size = want.abs()
            tiny = (size < self.bounds.small) & valid
            limit = self.bounds.cancelled
            near = (got.abs() < limit) & (size < limit) & ~tiny & valid
            beyond = relative > self.most
            native_beyond = apart / (size + self.gate.guard) > self.most
            error = self.bounds.small_error
            small.add(tiny, (got - want).abs() > error, apart > error)
            cancelled.add(near, beyond, native_beyond)
            normal.add(valid & ~tiny & ~near, beyond, native_beyond)
        ratio = self.gate.most_of_reference
        failed = [
            f"{region.given} of {region.elements} {name} elements are off "
            f"({region.native} in the same-precision reference)"
            for name, region in (("small", small), ("cancelled", cancelled))
            if not region.within(ratio)
        ]
        if normal.given and not (normal.native and normal.within(ratio)):
            said = (
                f"{normal.given} of {normal.elements} elements are off by more than {self.most:g}"
            )
            failed.insert(0, said)
        message = "; ".join(failed)
        if failed and math.isfinite(mean):
            message += f" (mean error {mean:.3g}, largest {largest:.3g})"
        return Judged(not failed, message, mean=mean, largest=largest)
