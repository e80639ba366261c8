#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The embedded model from nothing, in one go: data, tokenizer, supervised training, preferences of its own.
#
#     bash benchmarks/embedded_model.sh FOLDER
#
# GROW is how many seconds operators are grown, SEED what they are drawn from, PROVEN the share of them that is
# proven on the twin and not only interpreted, MODEL what is trained, STEPS how many batches it reads, TASKS how
# many tasks it answers for preferences. Questions that lie in FOLDER as prompts-*.jsonl (`npuforge evaluate
# prompts SUITE`) are answered after each training, to be judged with `npuforge evaluate score`. What is there is
# not done again.
set -euo pipefail
here=${1:?usage: embedded_model.sh FOLDER}
data=$here/data
mkdir -p "$here"

step() { echo "== $(date +%T) $*"; }
forge() { python3 -m npuforge.cli "$@"; }

asked() { # MODEL QUESTIONS ANSWERS [OPTION...]: the file is there when it is whole
    rm -f "$3.part"
    forge evaluate sample "$here/$1" "$2" --out "$3.part" --most-tokens 3000 "${@:4}" > "$3.log"
    mv "$3.part" "$3"
}

answered() { # by the model of this name
    local prompts suite
    for prompts in "$here"/prompts-*.jsonl; do
        suite=${prompts##*/prompts-}
        if [ -e "$prompts" ] && [ ! -e "$here/$1-$suite" ]; then
            step "$1 answers ${suite%.jsonl}"
            asked "$1" "$prompts" "$here/$1-$suite" --temperature 0.4
        fi
    done
}

if [ ! -e "$data/README.md" ]; then
    step "operators are grown"
    forge dataset build --out "$data" --operators 1000000 --seed "${SEED:-0}" --variants 10 --lessons 0.15 \
        --proven "${PROVEN:-0.2}" --limit "${GROW:-1200}" | tail -1
fi
if [ ! -e "$here/tokenizer" ]; then
    step "a tokenizer"
    forge train tokenizer "$data"/{kernel,repair,document}.jsonl --out "$here/tokenizer"
fi
if [ ! -e "$here/sft/model.safetensors" ]; then
    step "supervised training"
    held=() # few operators leave nothing to validate with
    [ -s "$data/validation.jsonl" ] && held=(--eval "$data/validation.jsonl")
    forge train sft "$data"/{kernel,variant,repair,document}.jsonl "${held[@]}" \
        --model "${MODEL:-scratch-30m}" --tokenizer "$here/tokenizer" --recipe embedded \
        --set max_steps="${STEPS:-2800}" --out "$here/sft" --resume | tail -3
fi
answered sft
if [ ! -e "$here/pairs.jsonl" ]; then
    step "its answers to tasks of the dataset"
    head -n "${TASKS:-400}" "$data/tasks.jsonl" > "$here/tasks.jsonl"
    asked sft "$here/tasks.jsonl" "$here/own.jsonl" --samples 4 --temperature 0.8
    rm -f "$here/pairs.part"
    forge dataset prefer "$here/tasks.jsonl" "$here/own.jsonl" --kernels "$data/kernel.jsonl" \
        --out "$here/pairs.part" | tail -1
    mv "$here/pairs.part" "$here/pairs.jsonl"
fi
if [ ! -e "$here/dpo/model.safetensors" ]; then
    step "preferences"
    forge train dpo "$here/pairs.jsonl" --model "$here/sft" --recipe embedded --out "$here/dpo" --resume \
        | tail -3
fi
answered dpo
step "done"
