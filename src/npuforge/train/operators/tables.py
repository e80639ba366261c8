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


class Calm(msgspec.Struct, frozen=True):
    unary: list[str]
    binary: list[str]
    residual: list[str]
    stages: list[str]


class Statistic(msgspec.Struct, frozen=True):
    one: list[str]
    pair: list[str]
    after: list[str]
    masked: list[str]
    joined: list[str]
    applied: list[str]


class Mask(msgspec.Struct, frozen=True):
    compared: list[str]
    places: list[str]
    triangles: list[str]
    lengths: list[str]
    groups: list[str]
    joined: list[str]
    used: list[str]


class Taken(msgspec.Struct, frozen=True):
    rows: list[str]
    columns: list[str]
    elements: list[str]
    single: list[str]
    picked: list[str]
    added: list[str]


class Order(msgspec.Struct, frozen=True):
    values: list[str]
    places: list[str]
    counted: list[str]
    whole: list[str]
    both: list[str]
    bounds: list[str]


class Update(msgspec.Struct, frozen=True):
    one: list[str]
    two: list[str]
    scaled: list[str]


class Terms(msgspec.Struct, frozen=True):
    each: list[str]
    rows: list[str]
    all: list[str]
    weighed: list[str]


class Create(msgspec.Struct, frozen=True):
    line: list[str]
    square: list[str]
    number: list[str]
    told: list[str]


class Image(msgspec.Struct, frozen=True):
    moved: list[str]
    sized: list[str]


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
    calm: Calm
    statistic: Statistic
    mask: Mask
    taken: Taken
    order: Order
    terms: Terms
    update: Update
    create: Create
    image: Image


@cache
def tables() -> Tables:
    text = files(__package__).joinpath("expressions.toml").read_bytes()
    return msgspec.toml.decode(text, type=Tables)
