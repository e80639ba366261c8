# SPDX-License-Identifier: Apache-2.0
"""The expressions that random operators are made of."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec


class Pointwise(msgspec.Struct, frozen=True):
    unary: list[str]
    binary: list[str]
    ternary: list[str]
    whole_unary: list[str]
    whole_binary: list[str]
    truth: list[str]


class Fold(msgspec.Struct, frozen=True):
    number: list[str]
    one_axis: list[str]
    truth: list[str]
    total: list[str]


class Norm(msgspec.Struct, frozen=True):
    along: list[str]
    last: list[str]
    planes: list[str]


class Loss(msgspec.Struct, frozen=True):
    pair: list[str]
    triple: list[str]
    classes: list[str]


class Scan(msgspec.Struct, frozen=True):
    along: list[str]


class Pool(msgspec.Struct, frozen=True):
    one: list[str]
    two: list[str]
    three: list[str]
    whole: list[str]


class Move(msgspec.Struct, frozen=True):
    matrix: list[str]
    index: list[str]
    sorted: list[str]
    created: list[str]


class Cast(msgspec.Struct, frozen=True):
    to: list[str]
    from_whole: list[str]


class Stages(msgspec.Struct, frozen=True):
    same: list[str]
    end: list[str]
    column: list[str]


class Tables(msgspec.Struct, frozen=True):
    pointwise: Pointwise
    fold: Fold
    norm: Norm
    loss: Loss
    scan: Scan
    pool: Pool
    move: Move
    cast: Cast
    stage: Stages


@cache
def tables() -> Tables:
    text = files(__package__).joinpath("expressions.toml").read_bytes()
    return msgspec.toml.decode(text, type=Tables)
