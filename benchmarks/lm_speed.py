# SPDX-License-Identifier: Apache-2.0
"""How fast a model writes on this machine.

    python benchmarks/lm_speed.py MODEL.gguf [--samples N] [--tokens N]
    python benchmarks/lm_speed.py random-30m.gguf --make

Tokens a second for 1 and N samples on 1 and 2 threads, with and without the grammar: by the clock,
and by the CPU time of this process, which a busy machine does not change. A model that was not
trained (`--make` writes one of 30 million parameters) has the grammar correct it at every token,
which is the worst case; a trained one hardly ever.
"""

from __future__ import annotations

import json
import re
import tempfile
import time
from pathlib import Path

import click
import numpy as np
from safetensors.numpy import save_file

from npuforge.generate.lm.engine.engine import LlamaEngine
from npuforge.generate.lm.engine.model import read
from npuforge.generate.lm.engine.sampling import Sampling
from npuforge.generate.lm.grammar import grammar
from npuforge.generate.lm.prompt.canonical import SYSTEM
from npuforge.train.export import export

_QUESTION = (
    "xa: float32[s0, s1]\nxb: float32[s1]\nwhere s0=64, s1=128\n"
    "v0 = add.Tensor(xa, xb): float32[s0, s1]\nv1 = _softmax(v0, -1, False): float32[s0, s1]\n"
    "return v1\n"
)
_PROGRAM = 450  # tokens of a program of middling length, with its reasoning


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--make", is_flag=True, help="Write a model of 30 million parameters at random.")
@click.option("--samples", default=10, show_default=True)
@click.option("--tokens", default=64, show_default=True, help="Tokens a sample.")
def main(model: Path, make: bool, samples: int, tokens: int) -> None:
    if make:
        _make(model)
        return
    file = read(model)
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": _QUESTION}]
    prompt = file.prompt(messages)
    # Reasoning is free text, whatever the grammar: programs are what it works on.
    rules = re.sub("^start: .*$", "start: program", grammar(), count=1, flags=re.MULTILINE)
    print(f"{file.name}: {len(prompt)} tokens asked, {tokens} a sample")
    print("threads samples grammar  tokens/s  tokens/CPU s  a program, s")
    for threads in (1, 2):
        with LlamaEngine(file, threads) as engine:
            for count in (1, samples):
                for used in ("", rules):
                    how = Sampling(count=count, most=tokens, grammar=used)
                    engine.draw(prompt, Sampling(count=count, most=tokens))
                    cpu = time.process_time()
                    drawn = engine.draw(prompt, how)
                    cpu = time.process_time() - cpu
                    each = drawn.seconds / max(1, drawn.tokens)
                    print(
                        f"{threads:7} {count:7} {'yes' if used else 'no':>7} {1 / each:9.1f} "
                        f"{drawn.tokens / cpu:13.1f} {each * _PROGRAM:13.1f}"
                    )


def _make(out: Path) -> None:
    """The shape of `scratch-30m`, the vocabulary of made-up words over the language's letters."""
    import tokenizers  # noqa: PLC0415
    from tokenizers import decoders, models, pre_tokenizers  # noqa: PLC0415

    width, inner, heads, layers, size = 512, 1408, 8, 8, 8192
    dice = np.random.default_rng(0)
    vocabulary = {c: n for n, c in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    letters = "abcdefghijklmnopqrstuvwxyz0123456789_.,()[]:=Ġ"
    pieces, merges = list(letters), []
    while len(vocabulary) < size - 2:
        left, right = (pieces[dice.integers(len(pieces))] for _ in range(2))
        if left + right not in vocabulary and len(left + right) <= 8:
            vocabulary[left + right] = len(vocabulary)
            pieces.append(left + right)
            merges.append((left, right))
    words = tokenizers.Tokenizer(models.BPE(vocabulary, merges))
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    words.decoder = decoders.ByteLevel()
    words.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    ones = np.ones(width, np.float32)

    def weights(*shape: int) -> object:
        return (dice.standard_normal(shape) * shape[-1] ** -0.5).astype(np.float32)

    tensors = {"model.embed_tokens.weight": weights(size, width), "model.norm.weight": ones}
    for layer in range(layers):
        name = f"model.layers.{layer}."
        tensors |= {f"{name}{norm}_layernorm.weight": ones for norm in ("input", "post_attention")}
        tensors |= {f"{name}self_attn.{x}_proj.weight": weights(width, width) for x in "qkvo"}
        tensors |= {f"{name}mlp.{x}_proj.weight": weights(inner, width) for x in ("gate", "up")}
        tensors[f"{name}mlp.down_proj.weight"] = weights(width, inner)
    config = {
        "model_type": "llama", "hidden_size": width, "intermediate_size": inner,
        "num_hidden_layers": layers, "num_attention_heads": heads, "vocab_size": size,
        "max_position_embeddings": 4096, "rms_norm_eps": 1e-5, "tie_word_embeddings": True,
    }  # fmt: skip
    chat = (
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    )
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        (folder / "config.json").write_text(json.dumps(config))
        words.save(str(folder / "tokenizer.json"))
        said = {"eos_token": "<|im_end|>", "chat_template": chat}
        (folder / "tokenizer_config.json").write_text(json.dumps(said))
        export(folder, out)


if __name__ == "__main__":
    main()
