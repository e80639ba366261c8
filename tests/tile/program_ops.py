# SPDX-License-Identifier: Apache-2.0
"""Random operations on tiles, each chosen so that its operands suit it (see programs.py)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from hypothesis import strategies as st

Kind = Literal["tile", "column", "row"]

FLOATS = ("float32", "float16")
# Magnitudes stay below these; float16 also has few digits to lose.
LIMITS = {"float32": 512.0, "float16": 64.0}
# Source, target and roundings that keep every number exact or well defined.
CASTS = {
    "float32": (("float16", ("rint", "floor", "ceil", "trunc", "none")),
                ("int32", ("rint", "floor", "ceil", "round", "trunc")),
                ("int16", ("rint", "floor", "trunc")),
                ("bfloat16", ("rint", "trunc")),
                ("int64", ("rint", "floor"))),
    "float16": (("float32", ("none",)), ("int32", ("rint", "floor", "ceil", "trunc")),
                ("int8", ("rint", "trunc")), ("uint8", ("rint",))),
    "bfloat16": (("float32", ("none",)),),
    "int32": (("float32", ("rint", "none")), ("int16", ("none",)), ("int64", ("none",))),
    "int64": (("int32", ("none",)), ("float32", ("rint",))),
    "int16": (("float32", ("none",)), ("float16", ("rint",))),
    "int8": (("float16", ("none",)), ("float32", ("none",))),
    "uint8": (("float16", ("none",)),),
    "uint16": (),
    "bool": (),
}  # fmt: skip
WHOLE_RANGE = {"int16": 2.0**15, "int32": 2.0**31, "int64": 2.0**31, "int8": 128.0, "uint8": 255.0,
               "uint16": 65535.0, "bool": 1.0}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Value:
    """What a buffer holds."""

    buffer: str
    kind: Kind
    dtype: str
    low: float
    high: float
    sure: bool

    @property
    def magnitude(self) -> float:
        return max(abs(self.low), abs(self.high))


@dataclass(slots=True)
class Emitter:
    """Writes operations and knows what every buffer holds after them."""

    draw: st.DrawFn
    extents: dict[str, str]
    slices: dict[str, str]
    longest: int  # of any reduction or scan
    input_types: tuple[str, ...]
    values: list[Value] = field(default_factory=list)
    allocations: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    computed: set[str] = field(default_factory=set)
    inouts: dict[str, str] = field(default_factory=dict)
    scalars: list[tuple[str, float]] = field(default_factory=list)

    # ---- text -----------------------------------------------------------------------------------
    def allocate(self, kind: str, dtype: str) -> str:
        name = f"b{len(self.allocations)}"
        what = "alloc_mask(" if dtype == "mask" else "alloc_ub("
        type_ = "" if dtype == "mask" else f", dtype=tl.{dtype}"
        self.allocations.append(f"{name} = tl.{what}{self.extents[kind]}{type_})")
        return name

    def view(self, value: Value, like: Kind | None = None) -> str:
        if value.kind == "column" and like == "tile":
            return f"{value.buffer}[:n, None]"
        return value.buffer + self.slices[value.kind]

    def move(self, verb: str, tensor: str, value: Value) -> str:
        if value.kind == "tile" and "row" in self.extents:
            return f"tl.{verb}({tensor} + start * cols, {self.view(value)}, stride=cols)"
        return f"tl.{verb}({tensor} + start, {self.view(value)})"

    def _write(self, text: str, value: Value) -> Value:
        self.lines.append(text)
        self.computed.add(value.buffer)
        self.values = [old for old in self.values if old.buffer != value.buffer] + [value]
        return value

    def _target(self, kind: Kind, dtype: str, among: list[Value] | None = None) -> str:
        """A new buffer, or now and then one that holds something else, for the result."""
        same = [v for v in among or [] if v.kind == kind and v.dtype == dtype]
        if same and self.draw(st.integers(0, 2)) == 0:
            return self.draw(st.sampled_from(same)).buffer
        return self.allocate(kind, dtype)

    # ---- structure ------------------------------------------------------------------------------
    def block(self, count: int) -> None:
        for _ in range(count):
            self.step()

    def branch(self, condition: str) -> None:
        """Both branches write the same new tile; afterwards either may be there."""
        sources = [v for v in self.values if v.dtype in FLOATS and v.kind == "tile"]
        if not sources:
            return
        a = self.draw(st.sampled_from(sources))
        target = self.allocate("tile", a.dtype)
        self.lines += [
            f"if {condition}:", f"    tl.abs({target}{self.slices['tile']}, {self.view(a)})",
            "else:",
        ]  # fmt: skip
        result = Value(target, "tile", a.dtype, -a.magnitude, a.magnitude, a.sure)
        self._write(f"    tl.mul({self.view(result)}, {self.view(a)}, 0.5)", result)

    def copy_of(self, draw: st.DrawFn, dtype: str | None = None) -> Value:
        """A tile of its own with one of the values, to be stored."""
        fitting = [v for v in self.values if v.kind == "tile" and v.dtype == (dtype or v.dtype)]
        source = draw(st.sampled_from(fitting))
        value = replace(source, buffer=self.allocate("tile", source.dtype))
        return self._write(f"tl.copy({self.view(value)}, {self.view(source)})", value)

    def step(self) -> None:
        """One more operation on something that is there."""
        source = self.draw(st.sampled_from(self.values))
        choices = ["cast"] if CASTS[source.dtype] and "row" not in self.extents else []
        if source.dtype in FLOATS:
            choices += ["unary", "unary", "binary", "binary", "binary", "scalar", "select", "fused"]
            if source.kind == "tile" and "row" in self.extents:
                choices += ["reduce", "reduce", "reduce", "spread"]
            if source.dtype == "float32" and source.kind == "tile":
                choices += ["scan"]
        elif source.dtype in ("int32", "int16"):
            choices += ["whole", "whole", "whole", "shift", "bits"]
            choices += ["select"] if source.dtype == "int32" else []
        elif source.dtype == "uint16":
            choices += ["bits", "shift"]
        elif source.dtype == "bool":
            choices += ["truth"]
        if choices:
            getattr(self, f"_{self.draw(st.sampled_from(choices))}")(source)

    # ---- operations -----------------------------------------------------------------------------
    def _unary(self, a: Value) -> None:
        m = a.magnitude
        known: dict[str, tuple[float, float, bool]] = {
            "abs": (0.0, m, True),
            "relu": (0.0, max(a.high, 0.0), True),
            "neg": (-a.high, -a.low, True),
            "copy": (a.low, a.high, True),
        }
        if a.low >= 0.0625:
            root = a.low**0.5
            known |= {"sqrt": (root, a.high**0.5, True), "rsqrt": (a.high**-0.5, 1 / root, False),
                      "reciprocal": (1 / a.high, 1 / a.low, False)}  # fmt: skip
        if a.low >= 0.25:
            known["log"] = (-1.5, 7.0, False)
        if a.high <= 3.0 and a.low >= -8.0:
            known["exp"] = (0.0003, 20.1, False)
        if a.dtype == "float32":
            known |= {"tanh": (-1.0, 1.0, False), "sigmoid": (0.0, 1.0, False),
                      "erf": (-1.0, 1.0, False), "atan": (-1.6, 1.6, False)}  # fmt: skip
            if m <= 8:
                known |= {"sin": (-1.0, 1.0, False), "cos": (-1.0, 1.0, False)}
            if a.sure:
                known |= {"floor": (a.low - 1, a.high, True), "ceil": (a.low, a.high + 1, True),
                          "round": (a.low - 1, a.high + 1, True), "trunc": (-m, m, True),
                          "sign": (-1.0, 1.0, True)}  # fmt: skip
        name = self.draw(st.sampled_from(sorted(known)))
        low, high, exact = known[name]
        result = Value(
            self._target(a.kind, a.dtype, [a]), a.kind, a.dtype, low, high, exact and a.sure
        )
        self._write(f"tl.{name}({self.view(result)}, {self.view(a)})", result)

    def _partner(self, a: Value) -> Value:
        """Something that combines with `a`: of its shape, or a row or column of it."""
        kinds = {"tile", "row", "column"} if a.kind == "tile" else {a.kind}
        fitting = [v for v in self.values if v.dtype == a.dtype and v.kind in kinds]
        return self.draw(st.sampled_from(fitting))

    def _binary(self, a: Value) -> None:
        b = self._partner(a)
        text = f"{self.view(a)}, {self.view(b, a.kind)}"
        if self.draw(st.booleans()) and a.dtype in FLOATS:
            text = f"{self.view(b, a.kind)}, {self.view(a)}"
        m = a.magnitude + b.magnitude
        known = {"maximum": max(a.magnitude, b.magnitude), "minimum": max(a.magnitude, b.magnitude)}
        if m <= LIMITS[a.dtype]:
            known |= {"add": m, "sub": m}
        if a.magnitude * b.magnitude <= LIMITS[a.dtype]:
            known["mul"] = a.magnitude * b.magnitude
        name = self.draw(st.sampled_from(sorted(known)))
        low = max(a.low, b.low) if name == "maximum" else -known[name]
        high = min(a.high, b.high) if name == "minimum" else known[name]
        if name in ("maximum", "minimum"):
            low, high = max(low, -known[name]), min(high, known[name])
        target = self._target(a.kind, a.dtype, [v for v in (a, b) if v.kind == a.kind])
        result = Value(target, a.kind, a.dtype, low, high, a.sure and b.sure)
        self._write(f"tl.{name}({self.view(result)}, {text})", result)

    def _scalar(self, a: Value) -> None:
        number, size = self.draw(
            st.sampled_from([("0.5", 0.5), ("2.0", 2.0), ("-1.25", 1.25), *self.scalars])
        )
        m = a.magnitude
        known = {"maximum": max(m, size), "minimum": max(m, size), "mul": m * size, "add": m + size,
                 "leaky_relu": max(m, m * size)}  # fmt: skip
        fitting = sorted(name for name, bound in known.items() if bound <= LIMITS[a.dtype])
        if not fitting:
            return
        name = self.draw(st.sampled_from(fitting))
        target = self._target(a.kind, a.dtype, [a])
        result = Value(target, a.kind, a.dtype, -known[name], known[name], a.sure)
        self._write(f"tl.{name}({self.view(result)}, {self.view(a)}, {number})", result)

    def _fused(self, a: Value) -> None:
        """dst += a * b, or a division by something away from zero."""
        b = self._partner(a)
        if b.kind == a.kind and b.low >= 0.125 and a.magnitude / b.low <= LIMITS[a.dtype]:
            bound = a.magnitude / b.low
            result = Value(
                self._target(a.kind, a.dtype, [a]),
                a.kind,
                a.dtype,
                -bound,
                bound,
                a.sure and b.sure,
            )
            self._write(f"tl.div({self.view(result)}, {self.view(a)}, {self.view(b)})", result)
        elif a.kind == b.kind == "tile" and a.buffer != b.buffer:
            bound = a.magnitude + 0.5 * b.magnitude
            if bound <= LIMITS[a.dtype]:
                result = replace(a, low=-bound, high=bound, sure=False)
                self._write(f"tl.axpy({self.view(a)}, {self.view(b)}, -0.5)", result)

    def _select(self, a: Value) -> None:
        """Where one tile is smaller than another or than a number, one of two; masks are flat."""
        if "row" in self.extents or not a.sure:
            return
        b = self._partner(a)
        mask = Value(self.allocate("tile", "mask"), "tile", "mask", 0, 1, sure=True)
        test = self.draw(st.sampled_from(["lt", "le", "gt", "ge", "eq", "ne"]))
        number = "1" if a.dtype == "int32" else "0.5"
        other = self.view(b) if b.sure and self.draw(st.booleans()) else number
        self.lines.append(f'tl.compare({self.view(mask)}, {self.view(a)}, {other}, "{test}")')
        if self.draw(st.booleans()):
            self.lines.append(f"tl.mask_not({self.view(mask)}, {self.view(mask)})")
        if self.draw(st.integers(0, 3)) == 0:
            truth = Value(self.allocate("tile", "bool"), "tile", "bool", 0, 1, sure=True)
            self._write(f"tl.bool_from_mask({self.view(truth)}, {self.view(mask)})", truth)
            return
        m = max(a.magnitude, b.magnitude, 1.0)
        result = Value(self.allocate("tile", a.dtype), "tile", a.dtype, -m, m, a.sure and b.sure)
        second = self.view(b) if self.draw(st.booleans()) else number
        self._write(
            f"tl.select({self.view(result)}, {self.view(mask)}, {self.view(a)}, {second})", result
        )

    def _cast(self, a: Value) -> None:
        dtype, modes = self.draw(st.sampled_from(CASTS[a.dtype]))
        mode = self.draw(st.sampled_from(modes))
        whole = dtype not in (*FLOATS, "bfloat16")
        if (whole and not a.sure) or (dtype in LIMITS and a.magnitude > LIMITS[dtype]):
            return
        m = a.magnitude + 1 if whole else a.magnitude
        if whole:
            m = min(m, WHOLE_RANGE[dtype])
        low, high = (0.0 if a.low >= 0 or dtype == "uint8" else -m), m
        result = Value(self.allocate("tile", dtype), "tile", dtype, low, high, a.sure)
        self._write(f'tl.cast({self.view(result)}, {self.view(a)}, round="{mode}")', result)

    def _whole(self, a: Value) -> None:
        """Whole numbers wrap around, so anything goes."""
        b = self._partner(a)
        name = self.draw(st.sampled_from(["add", "sub", "mul", "maximum", "minimum"]))
        other = self.view(b) if self.draw(st.booleans()) else "3"
        target = self._target(a.kind, a.dtype, [a])
        m = WHOLE_RANGE[a.dtype]
        result = Value(target, a.kind, a.dtype, -m, m, sure=True)
        self._write(f"tl.{name}({self.view(result)}, {self.view(a)}, {other})", result)

    def _shift(self, a: Value) -> None:
        name = self.draw(st.sampled_from(["shift_left", "shift_right"]))
        m = WHOLE_RANGE[a.dtype]
        result = Value(self.allocate(a.kind, a.dtype), a.kind, a.dtype, -m, m, sure=True)
        bits = self.draw(st.integers(0, 7))
        self._write(f"tl.{name}({self.view(result)}, {self.view(a)}, {bits})", result)

    def _bits(self, a: Value) -> None:
        b = self._partner(a)
        name = self.draw(st.sampled_from(["bit_and", "bit_or", "bit_not"]))
        operands = self.view(a) if name == "bit_not" else f"{self.view(a)}, {self.view(b)}"
        m = WHOLE_RANGE[a.dtype]
        low = 0.0 if a.dtype == "uint16" else -m
        result = Value(self.allocate(a.kind, a.dtype), a.kind, a.dtype, low, m, sure=True)
        self._write(f"tl.{name}({self.view(result)}, {operands})", result)

    def _truth(self, a: Value) -> None:
        mask = Value(self.allocate("tile", "mask"), "tile", "mask", 0, 1, sure=True)
        result = Value(self.allocate("tile", "bool"), "tile", "bool", 0, 1, sure=True)
        self.lines.append(f"tl.mask_from_bool({self.view(mask)}, {self.view(a)})")
        self.lines.append(f"tl.mask_not({self.view(mask)}, {self.view(mask)})")
        self._write(f"tl.bool_from_mask({self.view(result)}, {self.view(mask)})", result)

    def _reduce(self, a: Value) -> None:
        axis = self.draw(st.sampled_from([0, 1]))
        kind: Kind = "column" if axis == 1 else "row"
        known = {"reduce_max": (a.low, a.high, a.sure), "reduce_min": (a.low, a.high, a.sure)}
        bound = a.magnitude * self.longest
        if a.dtype == "float32" and bound <= 4 * LIMITS["float32"]:
            low = a.low if a.low >= 0 else -bound
            known["reduce_sum"] = (low, bound, False)
        if a.dtype == "float32" and a.magnitude <= 1:
            known["reduce_prod"] = (-1.0, 1.0, False)
        name = self.draw(st.sampled_from(sorted(known)))
        low, high, sure = known[name]
        result = Value(self.allocate(kind, a.dtype), kind, a.dtype, low, high, sure)
        self._write(f"tl.{name}({self.view(result)}, {self.view(a)}, axis={axis})", result)

    def _spread(self, a: Value) -> None:
        """A row or a column repeated over a tile."""
        small = [v for v in self.values if v.kind != "tile" and v.dtype == a.dtype]
        if not small:
            return
        source = self.draw(st.sampled_from(small))
        result = replace(source, buffer=self.allocate("tile", a.dtype), kind="tile")
        self._write(f"tl.broadcast({self.view(result)}, {self.view(source, 'tile')})", result)

    def _scan(self, a: Value) -> None:
        flat = "row" not in self.extents
        axis = 0 if flat else self.draw(st.sampled_from([0, 1]))
        known = {"cummax": (a.low, a.high, a.sure), "cummin": (a.low, a.high, a.sure)}
        bound = a.magnitude * (256 if flat else self.longest)
        if bound <= 4 * LIMITS["float32"]:
            known["cumsum"] = (-bound, bound, False)
        if a.magnitude <= 1:
            known["cumprod"] = (-1.0, 1.0, False)
        name = self.draw(st.sampled_from(sorted(known)))
        low, high, sure = known[name]
        result = Value(self.allocate("tile", a.dtype), "tile", a.dtype, low, high, sure)
        self._write(f"tl.{name}({self.view(result)}, {self.view(a)}, axis={axis})", result)
