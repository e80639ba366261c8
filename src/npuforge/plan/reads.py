# SPDX-License-Identifier: Apache-2.0
"""What a value reads: tensors, and the reductions in it."""

from __future__ import annotations

from collections.abc import Iterator

from npuforge.plan.values import Load, Map, Reduce, Special, Tensor, Value, is_whole


def loads(value: Value) -> Iterator[Load]:
    seen: set[int] = set()
    stack = [value]
    while stack:
        item = stack.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        match item:
            case Load():
                yield item
            case Map():
                stack += reversed(item.args)
            case Reduce():
                stack.append(item.arg)


def read_tensors(value: Value) -> Iterator[Tensor]:
    return (item.tensor for item in loads(value))


def all_tensors(value: Value) -> Iterator[Tensor]:
    """Tensors that a value reads, through temporaries and special operations too."""
    seen: set[int] = set()
    stack = list(read_tensors(value))
    while stack:
        tensor = stack.pop().memory
        if id(tensor) in seen:
            continue
        seen.add(id(tensor))
        yield tensor
        if isinstance(tensor.producer, Special):
            for arg in tensor.producer.args:
                stack += read_tensors(arg)
        elif tensor.producer is not None:
            stack += read_tensors(tensor.producer)


def reads(value: Value, tensor: Tensor) -> bool:
    return any(read.memory is tensor for read in read_tensors(value))


def in_step(value: Value, tensor: Tensor) -> bool:
    """Whether a value reads a tensor only at the place it is written to."""
    match value:
        case Load():
            return value.tensor.memory is not tensor or is_whole(value)
        case Map():
            return all(
                in_step(arg, tensor) and (arg.shape == value.shape or not reads(arg, tensor))
                for arg in value.args
            )
        case Reduce():
            return not reads(value.arg, tensor)
    return True


def reductions(value: Value) -> Iterator[Reduce]:
    match value:
        case Reduce():
            yield value
        case Map():
            for arg in value.args:
                yield from reductions(arg)
