# SPDX-License-Identifier: Apache-2.0
"""A training's folder: the model, checkpoints, TensorBoard curves, and `run.json`, which says all.

`run.json` is there from the beginning, with the status `running`; an interrupt or the time limit
makes a checkpoint and the status `interrupted`, and `--resume` goes on from there.
"""

from __future__ import annotations

import importlib
import os
import platform
import re
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

from npuforge import __version__
from npuforge.errors import UsageError
from npuforge.fileformat import TRAINING_RUN
from npuforge.files import write_whole
from npuforge.train.models import Opened
from npuforge.train.recipe import Common
from npuforge.train.records import digest
from npuforge.untrusted.inputs import read_input

_PACKAGES = ("torch", "transformers", "trl", "peft", "accelerate", "datasets", "tokenizers")
_CHECKPOINT = re.compile(r"checkpoint-(\d+)")


class Run(msgspec.Struct, kw_only=True):
    """The document of a run."""

    method: str
    status: str
    model: str
    lora: bool
    recipe: dict[str, Any]
    data: list[str]
    data_sha256: str
    counts: dict[str, int]
    parameters: int
    device: str
    versions: dict[str, str]
    steps: int = 0
    seconds: float = 0.0
    tokens_per_second: float = 0.0
    final: dict[str, float] = {}


class Request(msgspec.Struct, kw_only=True):
    """What the command line asked of any method."""

    data: list[Path]
    model: str
    out: Path
    tokenizer: Path | None = None
    lora: bool = False
    resume: bool = False
    limit_s: float | None = None


def prepare() -> None:
    """Before the heavy libraries come: nothing is sent or fetched, and no bars are drawn."""
    for name in ("HF_HUB_OFFLINE", "HF_HUB_DISABLE_TELEMETRY", "TQDM_DISABLE"):
        os.environ.setdefault(name, "1")
    for name in ("torch", "transformers", "trl", "datasets"):
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise UsageError(
                f"training needs {error.name}: install npuforge with its extra `train`"
            ) from error
    import datasets  # noqa: PLC0415
    import torch  # noqa: PLC0415
    import transformers  # noqa: PLC0415

    datasets.disable_progress_bars()
    transformers.utils.logging.disable_progress_bar()
    if torch.cuda.device_count() > 1 and "LOCAL_RANK" not in os.environ:
        raise UsageError(
            "several GPUs: start with `accelerate launch -m npuforge.cli train ...`,"
            " or show one with CUDA_VISIBLE_DEVICES"
        )


def checkpoint(request: Request) -> str | None:
    """Where to go on from; without --resume the folder must hold no run."""
    found = sorted(
        (int(match[1]), entry)
        for entry in (request.out.iterdir() if request.out.is_dir() else ())
        if (match := _CHECKPOINT.fullmatch(entry.name))
        and (entry / "trainer_state.json").is_file()  # written last: the others are cut short
    )
    document = request.out / "run.json"
    if document.exists() and request.resume:
        TRAINING_RUN.decode(read_input(document), Run, document)
    elif document.exists() and main_process():
        raise UsageError(f"{request.out} holds a run: go on with --resume, or name another --out")
    return str(found[-1][1]) if found and request.resume else None


def arguments(request: Request, recipe: Common, *, lr: float, micro: int, batch: int) -> Any:
    """What the trainers' configurations have in common; `batch` counts all devices."""
    import torch  # noqa: PLC0415

    cuda = torch.cuda.is_available()
    devices = int(os.environ.get("WORLD_SIZE", "1"))
    micro = max(1, min(micro, batch // devices))
    return {
        "output_dir": str(request.out),
        "learning_rate": lr,
        "lr_scheduler_type": recipe.schedule,
        "warmup_steps": recipe.warmup,
        "weight_decay": recipe.weight_decay,
        "adam_beta2": recipe.beta2,
        "max_grad_norm": recipe.grad_clip,
        "max_steps": recipe.max_steps or -1,
        "num_train_epochs": recipe.epochs,
        "per_device_train_batch_size": micro,
        "per_device_eval_batch_size": micro,
        "gradient_accumulation_steps": max(1, batch // (micro * devices)),
        "gradient_checkpointing": recipe.checkpointing,
        "bf16": cuda,
        "use_cpu": not cuda,
        "seed": recipe.seed,
        "logging_steps": recipe.log_every,
        "save_steps": recipe.save_every,
        "save_total_limit": recipe.keep,
        "report_to": ["tensorboard"],
        "disable_tqdm": True,
        "dataloader_pin_memory": cuda,
    }


def adapter(request: Request, recipe: Common) -> Any:
    """LoRA on every linear layer but the head, or None for the whole model."""
    if not request.lora:
        return None
    from peft import LoraConfig  # noqa: PLC0415

    return LoraConfig(
        task_type="CAUSAL_LM",
        r=recipe.lora_rank,
        lora_alpha=recipe.lora_alpha,
        lora_dropout=recipe.lora_dropout,
        target_modules="all-linear",
    )


def compiled(opened: Opened, recipe: Common) -> None:
    """Compile the layers, in place, where a GPU repays it; the head's loss has its own kernels."""
    import torch  # noqa: PLC0415

    if recipe.compile and torch.cuda.is_available():
        opened.model.base_model.compile(dynamic=False)


def describe(
    method: str, request: Request, recipe: Common, opened: Opened, counts: dict[str, int]
) -> Run:
    """The document as it stands when training begins."""
    import torch  # noqa: PLC0415

    cuda = torch.cuda.is_available()
    versions = {"npuforge": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return Run(
        method=method,
        status="running",
        model=request.model,
        lora=request.lora,
        recipe=msgspec.to_builtins(recipe),
        data=[path.name for path in request.data],
        data_sha256=digest(request.data),
        counts=counts,
        parameters=opened.model.num_parameters(),
        device=torch.cuda.get_device_name() if cuda else "cpu",
        versions=versions,
    )


def train(
    trainer: Any, run: Run, request: Request, recipe: Common, tokens: int | None = None
) -> Run:
    """Train, and leave a folder that the other commands open; `tokens`: of one step."""
    start = checkpoint(request)
    request.out.mkdir(parents=True, exist_ok=True)
    _write(run, request.out)
    began = time.monotonic()
    from transformers import PrinterCallback  # noqa: PLC0415

    trainer.remove_callback(PrinterCallback)
    trainer.create_model_card = lambda **_: None  # it would tell of a hub and of trl alone
    with _stopper(request.limit_s) as stop:
        trainer.add_callback(_callback(stop))
        result = trainer.train(resume_from_checkpoint=start)
    run.seconds = round(time.monotonic() - began, 3)
    state = trainer.state
    done = state.global_step - (int(start.rpartition("-")[2]) if start else 0)
    run.steps = state.global_step
    if tokens is not None:
        run.tokens_per_second = round(done * tokens / run.seconds, 1)
    run.final = {**_last(state.log_history), "train_loss": float(result.training_loss)}
    run.status = "interrupted" if stop.asked and state.global_step < state.max_steps else "finished"
    if run.status == "finished":
        if trainer.eval_dataset is not None:
            run.final["eval_loss"] = float(trainer.evaluate()["eval_loss"])
        _save(trainer, request.out, recipe)
    _write(run, request.out)
    return run


def main_process() -> bool:
    """Whether this process writes the files that all processes would."""
    return os.environ.get("RANK", "0") == "0"


class Stop:
    """Asked for by a signal or by the time limit; asked twice, it does not wait for the step."""

    def __init__(self, limit_s: float | None) -> None:
        self._until = None if limit_s is None else time.monotonic() + limit_s
        self._signalled = False

    @property
    def asked(self) -> bool:
        """Whether training should stop after this step."""
        late = self._until is not None and time.monotonic() > self._until
        return self._signalled or late

    def on_signal(self, _number: int, _frame: FrameType | None) -> None:
        """Note the first; let the second interrupt."""
        if self._signalled:
            raise KeyboardInterrupt
        self._signalled = True


@contextmanager
def _stopper(limit_s: float | None) -> Iterator[Stop]:
    stop = Stop(limit_s)
    before = {name: signal.signal(name, stop.on_signal) for name in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


def _callback(stop: Stop) -> Any:
    from transformers import TrainerCallback  # noqa: PLC0415

    class Saver(TrainerCallback):  # type: ignore[misc]
        """A checkpoint after the step in which a stop was asked for, and a line for people."""

        def on_step_end(self, _args: Any, _state: Any, control: Any, **_: Any) -> None:
            if stop.asked:
                control.should_save = control.should_training_stop = True

        def on_log(self, _args: Any, state: Any, _control: Any, logs: Any = None, **_: Any) -> None:
            if state.is_world_process_zero and logs:
                print(_line(state, logs), file=sys.stderr, flush=True)

    return Saver()


_SHOWN = (
    "loss",
    "eval_loss",
    "mean_token_accuracy",
    "rewards/accuracies",
    "reward",
    "judge_failures",
    "grad_norm",
)


def _line(state: Any, logs: dict[str, Any]) -> str:
    shown = [f"{name} {float(logs[name]):.4g}" for name in _SHOWN if name in logs]
    return f"step {state.global_step}/{state.max_steps}  {'  '.join(shown)}"


def _last(history: Sequence[dict[str, Any]]) -> dict[str, float]:
    """The last value of every curve."""
    found: dict[str, float] = {}
    for entry in history:
        found.update({name: float(value) for name, value in entry.items() if name != "step"})
    return found


def _save(trainer: Any, out: Path, recipe: Common) -> None:
    """A whole model in `out`, merged if it is an adapter (which then also stands in `adapter`)."""
    import torch  # noqa: PLC0415

    state = trainer.accelerator.get_state_dict(trainer.model)  # of all devices together
    if not main_process():
        return
    model = trainer.accelerator.unwrap_model(trainer.model)
    if hasattr(model, "merge_and_unload"):
        model.save_pretrained(out / "adapter", state_dict=state)
        model = model.merge_and_unload()
        state = model.state_dict()
    dtype = getattr(torch, recipe.weights)
    once = {  # tied ones stay tied
        value.data_ptr(): value.to(dtype) if value.is_floating_point() else value
        for value in state.values()
    }
    model.to(dtype)
    model.config.use_cache = True
    model.save_pretrained(
        out, state_dict={name: once[value.data_ptr()] for name, value in state.items()}
    )
    trainer.processing_class.save_pretrained(out)


def _write(run: Run, out: Path) -> None:
    if not main_process():
        return
    text = msgspec.json.format(TRAINING_RUN.encode(run), indent=2)
    write_whole(out / "run.json", text + b"\n")
