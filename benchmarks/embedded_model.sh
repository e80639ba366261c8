#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The embedded model from nothing, in one go: data, tokenizer, supervised training, preferences of its own.
#
#     bash benchmarks/embedded_model.sh FOLDER
#
# GROW is how many seconds operators are grown, STEPS how many batches are read, SEED what operators are
# drawn from. Questions that lie in FOLDER as prompts-*.jsonl (`npuforge evaluate prompts SUITE`) are
# answered after each training, to be judged with `npuforge evaluate score`. What is there is not done
# again. On 16 cores and one H200 the defaults take about half an hour.
set -euo pipefail
here=${1:?usage: embedded_model.sh FOLDER}
data=$here/data
mkdir -p "$here"

step() { echo "== $(date +%T) $*"; }
forge() { python3 -m npuforge.cli "$@"; }

answered() { # by the model of this name
    for asked in "$here"/prompts-*.jsonl; do
        local suite=${asked##*/prompts-} out
        out=$here/$1-$suite
        [ -e "$asked" ] && [ ! -e "$out" ] || continue
        step "$1 answers ${suite%.jsonl}"
        forge evaluate sample "$here/$1" "$asked" --temperature 0.4 --out "$out" > "$out.log"
    done
}

if [ ! -e "$data/README.md" ]; then
    step "operators are grown"
    forge dataset build --out "$data" --operators 1000000 --seed "${SEED:-0}" --variants 16 --lessons 0.15 \
        --limit "${GROW:-540}" | tail -1
fi
if [ ! -e "$here/tokenizer" ]; then
    step "a tokenizer"
    forge train tokenizer "$data"/{kernel,repair,document}.jsonl --out "$here/tokenizer"
fi
if [ ! -e "$here/sft/model.safetensors" ]; then
    step "supervised training"
    forge train sft "$data"/{kernel,variant,repair,document}.jsonl --eval "$data/validation.jsonl" \
        --model scratch-30m --tokenizer "$here/tokenizer" --recipe embedded \
        --set max_steps="${STEPS:-1500}" --out "$here/sft" | tail -3
fi
answered sft
if [ ! -e "$here/pairs.jsonl" ]; then
    step "its answers to tasks of the dataset"
    head -n "${TASKS:-400}" "$data/tasks.jsonl" > "$here/tasks.jsonl"
    forge evaluate sample "$here/sft" "$here/tasks.jsonl" --samples 4 --temperature 0.8 \
        --out "$here/own.jsonl" > "$here/own.log"
    forge dataset prefer "$here/tasks.jsonl" "$here/own.jsonl" --kernels "$data/kernel.jsonl" \
        --out "$here/pairs.jsonl" | tail -1
fi
if [ ! -e "$here/dpo/model.safetensors" ]; then
    step "preferences"
    forge train dpo "$here/pairs.jsonl" --model "$here/sft" --recipe embedded --out "$here/dpo" | tail -3
fi
answered dpo
step "done"
