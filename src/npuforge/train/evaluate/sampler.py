# SPDX-License-Identifier: Apache-2.0
"""The sampler of a model: llama.cpp for a GGUF file where there is no GPU, PyTorch otherwise."""

from __future__ import annotations

from pathlib import Path

from npuforge.train.evaluate.answers import Answering


def open_sampler(model: str) -> Answering:
    """Open a folder or a GGUF file."""
    import torch  # noqa: PLC0415

    if model.endswith(".gguf") and not torch.cuda.is_available():
        from npuforge.train.evaluate.llama import LlamaSampler  # noqa: PLC0415

        return LlamaSampler(Path(model))
    from npuforge.train.evaluate.batches import BatchSampler  # noqa: PLC0415

    return BatchSampler(model)
