# SPDX-License-Identifier: Apache-2.0
"""What an operation does to elements: computes each, folds them, or moves them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from npuforge.spec.graph import Node, TensorType

Kind = Literal["elements", "folded", "other"]

ITEM = "getitem"
# What needs no room between parts: another look at a value, or a constant. Who reads it has it.
_FREE = re.compile(
    r"^(?:view|_unsafe_view|squeeze|unsqueeze|expand|clone|alias|detach|scalar_tensor|full|zeros|ones"
    r"|arange|lift_fresh_copy|split|split_with_sizes|unbind|chunk)\b"
)
TAKEN = re.compile(r"^(?:select|slice)\b")  # free where parts may be larger than an operation
_FOLDS = re.compile(
    r"^(?:sum|mean|amax|amin|prod|var|var_mean|std|any|all|argmax|argmin|linalg_vector_norm)\b"
)
# What has as many elements as its operands and is not computed from each alone.
_MOVES = re.compile(
    r"^(?:_softmax|_log_softmax|cum|logcumsumexp|sort|topk|flip|roll|permute|transpose|t$|cat|index"
    r"|gather|scatter|slice_scatter|select_scatter|native_|_native|tril|triu|constant_pad|repeat|.*pool"
    r"|upsample|embedding|grid_sampler|as_strided|diagonal|copy)"
)
_SLICE = "slice.Tensor"


def is_free(node: Node, nodes: Mapping[str, Node]) -> bool:
    if node.op == ITEM:
        whole = nodes.get(next(node.reads()))
        return whole is not None and _FREE.match(whole.word) is not None
    return _FREE.match(node.word) is not None


def is_beginning(node: Node) -> bool:
    """Whether a node is the first part of what it reads: memory is the same."""
    where = [*node.args[1:], *(0, 0, None, 1)[len(node.args) - 1 :]]
    return node.word == _SLICE and where[0] == 0 and where[1] in (0, None) and where[3] == 1


def is_each(word: str) -> bool:
    """Whether an operation neither folds nor moves, by what it is called."""
    return not any(form.match(word) for form in (_FOLDS, _MOVES, TAKEN))


def is_fold(word: str) -> bool:
    return _FOLDS.match(word) is not None


def folds(node: Node) -> bool:
    return is_fold(node.word)


def kind_of(node: Node, types: Mapping[str, TensorType]) -> Kind:
    moved = _MOVES.match(node.word) or TAKEN.match(node.word)
    if moved or len(node.types) != 1 or node.op == ITEM:
        return "other"
    if folds(node):
        return "folded"
    return "elements" if _meeting(node, types) == node.type.shape else "other"


def _meeting(node: Node, types: Mapping[str, TensorType]) -> tuple[int, ...]:
    """The shape in which the operands of a node meet, in the example."""
    shapes = [types[one].shape for one in node.reads() if one in types]
    rank = max(map(len, shapes), default=0)
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    return tuple(max(extents) for extents in zip(*padded, strict=True))
