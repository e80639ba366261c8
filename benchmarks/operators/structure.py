# SPDX-License-Identifier: Apache-2.0
"""What an operator dispatches: whether it is vector work, and which others have its structure."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import torch
from benchmarks.operators.row import digest
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

MOST_ELEMENTS = 1 << 26
LEAST_ELEMENTS = 1 << 14
MOST_OPERATIONS = 400

# Matrix products, convolutions, transforms, factorisations and recurrent networks; draws at random;
# extents and branches that follow from data.
_REFUSED = {
    "is no vector work": re.compile(
        r"(add|b|badd|addb|_int_)?b?mm|(add)?mv|v?dot|matmul|linear|_?conv.*|_scaled.*|scaled_dot.*"
        r"|_euclidean_dist|_?linalg_.*|_?fft_.*|.*cholesky.*|.*(lstm|gru|rnn).*|mkldnn_.*|_cudnn.*"
        r"|bilinear|einsum|geqrf|_?cdist.*|_trilinear|native_multi_head.*|_transform_bias.*"
    ),
    "draws at random": re.compile(
        r"rand.*|normal.*|bernoulli.*|multinomial|(native_)?dropout|poisson|uniform|exponential"
    ),
    "depends on data": re.compile(
        r"nonzero.*|masked_select|_?unique.*|_local_scalar_dense|item|equal|is_nonzero|bincount"
        r"|histc|repeat_interleave"
    ),
}

# Operations that only change how a tensor is looked at, or its type.
_LOOKS = frozenset(
    [
        "alias",
        "detach",
        "view",
        "_unsafe_view",
        "reshape",
        "_reshape_alias",
        "expand",
        "unsqueeze",
        "squeeze",
        "as_strided",
        "_to_copy",
        "lift_fresh",
        "lift_fresh_copy",
        "clone",
        "contiguous",
        "t",
        "transpose",
        "permute",
        "select",
        "slice",
        "split",
        "split_with_sizes",
        "chunk",
        "unbind",
        "view_as",
        "diagonal",
        "unfold",
        "empty",
        "empty_like",
        "empty_strided",
        "new_empty",
        "zeros",
        "ones",
        "full",
        "arange",
        "scalar_tensor",
        "zeros_like",
        "ones_like",
        "full_like",
        "new_zeros",
        "new_ones",
        "new_full",
        "copy",
        "_record_function_enter_new",
        "_record_function_exit",
    ]
)
# What two operators of one structure may differ in.
_LOOSE = frozenset(
    [
        "alias",
        "detach",
        "view",
        "_unsafe_view",
        "reshape",
        "_reshape_alias",
        "expand",
        "unsqueeze",
        "squeeze",
        "_to_copy",
        "lift_fresh",
        "lift_fresh_copy",
        "contiguous",
        "view_as",
        "empty",
        "empty_like",
        "empty_strided",
        "scalar_tensor",
        "copy",
        "clone",
        "_record_function_enter_new",
        "_record_function_exit",
    ]
)


class Dispatched(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Count the operations of every open frame."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.frames: list[Frame] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if self.frames:
            name = func._schema.name.partition("::")[2]
            name = name[:-1] if name.endswith("_") and not name.endswith("__") else name
            sizes = [one.numel() for one in tree_leaves(result) if isinstance(one, torch.Tensor)]
            for frame in self.frames:
                frame.count[name] += 1
                frame.largest = max([frame.largest, *sizes])
        return result


class Frame:
    """The operations of one call."""

    def __init__(self) -> None:
        self.count: Counter[str] = Counter()
        self.largest = 0

    @property
    def refusal(self) -> str | None:
        """Return why this is no vector operator of a fixed shape; None if it is."""
        for reason, names in _REFUSED.items():
            refused = next(filter(names.fullmatch, self.count), None)
            if refused is not None:
                return f"{refused} {reason}"
        if sum(self.count.values()) > MOST_OPERATIONS:
            return "too many operations"
        if not LEAST_ELEMENTS <= self.largest <= MOST_ELEMENTS:
            return "no size of a real model"
        moved = "clone" in self.count and {"transpose", "permute", "slice"} & set(self.count)
        if set(self.count) <= _LOOKS and not moved:
            return "nothing is computed or moved"
        return None

    @property
    def structure(self) -> str:
        """Return a digest of what is computed, however it is sized, typed or ordered."""
        kept = {name: count for name, count in self.count.items() if name not in _LOOSE}
        kept = kept or dict(self.count)
        return digest(" ".join(f"{name}*{kept[name]}" for name in sorted(kept)))[:16]
