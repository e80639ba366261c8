# SPDX-License-Identifier: Apache-2.0
"""Inside the sandbox: tensors as the trusted side reads them (`sandbox/tensor_files.py`).

Stands alone, and imports PyTorch only where its caller has.
"""

import json
from collections.abc import Sequence
from typing import Any

Tensor = tuple[str, Sequence[int], bytes]  # element type, shape, contents
_ALIGNMENT = 64


def packed(tensors: Sequence[Tensor | None]) -> bytes:
    """Return the list as one file; None stays None."""
    headers = [t and {"shape": list(t[1]), "dtype": t[0]} for t in tensors]
    header = json.dumps({"tensors": headers}).encode()
    made = bytearray(len(header).to_bytes(8, "little") + header)
    for tensor in tensors:
        if tensor is not None:
            made += bytes(-len(made) % _ALIGNMENT) + tensor[2]
    return bytes(made)


def described(tensor: Any) -> Tensor:
    """Return a tensor of PyTorch, whatever its strides."""
    import torch  # noqa: PLC0415

    plain = tensor.detach().resolve_conj().resolve_neg().contiguous().cpu()
    octets = plain.reshape(-1).view(torch.uint8).numpy().tobytes() if plain.numel() else b""
    return str(plain.dtype).removeprefix("torch."), tuple(plain.shape), octets


def saved(tensors: Sequence[Any]) -> bytes:
    """Return tensors of PyTorch as one file; None stays None."""
    return packed([None if tensor is None else described(tensor) for tensor in tensors])
