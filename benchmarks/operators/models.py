# SPDX-License-Identifier: Apache-2.0
"""Draw from models: each with its default configuration and few layers, on the `meta` device."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import torch
from benchmarks.operators.recorder import Drawn, Recorder
from benchmarks.operators.row import digest

_LAYERS = ("layers", "n_layer", "n_layers", "depth", "depths")
_FEW = 2


def draw_transformers(settings: dict[str, Any], version: str) -> Iterator[Drawn]:
    """Yield what models that `AutoModel` knows call: of so many one, by a hash of their names."""
    import transformers  # noqa: PLC0415 (an installed source)
    from transformers.models.auto import configuration_auto  # noqa: PLC0415

    transformers.logging.set_verbosity_error()
    names = sorted(configuration_auto.CONFIG_MAPPING_NAMES)
    names = [name for name in names if int(digest(name), 16) % settings["every"] == 0]
    for count, name in enumerate(names):
        print(f"\rtransformers {count + 1}/{len(names)} {name:40}", end="", file=sys.stderr)
        recorder = Recorder("transformers", version)
        with suppress(Exception):  # a configuration without defaults, or needs another package
            _run_transformers(recorder, configuration_auto.CONFIG_MAPPING[name](), settings)
        yield from recorder.drawn.values()
    print(file=sys.stderr)


def _run_transformers(recorder: Recorder, config: Any, settings: dict[str, Any]) -> None:
    from transformers import AutoModel  # noqa: PLC0415 (an installed source)

    _shorten(config)
    made = AutoModel._model_mapping[type(config)]
    made = made[0] if isinstance(made, tuple) else made
    main = made.main_input_name
    recorder.source = made.__name__
    recorder.dtype = "bfloat16" if main == "input_ids" else "float32"
    dtype = getattr(torch, recorder.dtype)
    usual = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device("meta"), recorder.making():
            model = made._from_config(config, attn_implementation="eager", dtype=dtype).eval()
    finally:
        torch.set_default_dtype(usual)
    taken = inspect.signature(model.forward).parameters
    for names in ((main,), (main, "decoder_input_ids"), tuple(settings["inputs"])):
        given = {
            name: _input(settings["inputs"][name], config, dtype)
            for name in names
            if name in taken and name in settings["inputs"]
        }
        with suppress(Exception), torch.no_grad(), torch.device("meta"), recorder.calling():
            model(**given)
            return


def _shorten(config: Any) -> None:
    for key, value in list(vars(config).items()):
        if key.endswith(_LAYERS) and type(value) is int and value > _FEW:
            with suppress(Exception):
                setattr(config, key, _FEW)
        elif hasattr(value, "to_diff_dict"):
            _shorten(value)


def _input(kind: dict[str, Any], config: Any, dtype: torch.dtype) -> torch.Tensor:
    """Return an input; an extent that is a name is the configuration's, or what stands beside."""
    shape = []
    for extent in kind["shape"]:
        if isinstance(extent, str):
            name, _, usual = extent.partition("=")
            value = _field(config, name)
            extent = value if isinstance(value, int) else int(usual)
        shape.append(extent)
    longest = _field(config, "max_position_embeddings")
    if kind["dtype"] == "int64" and isinstance(longest, int) and longest > 0:
        shape[1] = min(shape[1], longest)
    made = dtype if kind["dtype"] == "float" else getattr(torch, kind["dtype"])
    return torch.empty(shape, dtype=made, device="meta")


def _field(config: Any, name: str) -> Any:
    for one in (config, *(getattr(config, key, None) for key in ("vision_config", "audio_config"))):
        value = getattr(one, name, None)
        if value is not None:
            return value[0] if isinstance(value, list | tuple) else value
    return None


def draw_listed(settings: dict[str, Any], version: str) -> Iterator[Drawn]:
    """Yield what one model of another package calls."""
    module, _, name = settings["target"].partition(":")
    recorder = Recorder(module.partition(".")[0], version)
    recorder.source, recorder.dtype = name, settings.get("dtype", "float32")
    dtype = getattr(torch, recorder.dtype)
    made = getattr(importlib.import_module(module), name)
    usual = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device("meta"), recorder.making():
            model = made(**settings.get("init", {})).eval()
    finally:
        torch.set_default_dtype(usual)
    given = {key: _input(kind, None, dtype) for key, kind in settings.get("inputs", {}).items()}
    constant = settings.get("constants", {})
    try:
        with torch.no_grad(), torch.device("meta"), recorder.calling():
            model(**given, **constant)
    except Exception as error:
        print(f"{name}: ends early, {type(error).__name__}: {error}"[:160], file=sys.stderr)
    yield from recorder.drawn.values()
