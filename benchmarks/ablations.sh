#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What reasoning and repairs are worth: the same model from nothing, on the same data, with and without them.
#
#     bash benchmarks/ablations.sh FOLDER
#
# FOLDER is one of embedded_model.sh: its data, its tokenizer, and questions that lie in it as prompts-*.jsonl are
# used. Answers come to lie in FOLDER/ablation-NAME-*.jsonl, to be judged with `npuforge evaluate score`. MODEL is
# what is trained, STEPS how many batches each reads, SAMPLES how many answers a question gets. What preferences are
# worth, embedded_model.sh shows: it has answers before and after them. What is there is not done again.
set -euo pipefail
here=${1:?usage: ablations.sh FOLDER}
data=$here/data

step() { echo "== $(date +%T) $*"; }
forge() { python3 -m npuforge.cli "$@"; }

ablation() { # NAME FILES... OPTIONS...
    local name=$1 prompts answers
    shift
    if [ ! -e "$here/ablation-$name/model.safetensors" ]; then
        step "$name"
        forge train sft "$@" --model "${MODEL:-scratch-30m}" --tokenizer "$here/tokenizer" --recipe embedded \
            --set max_steps="${STEPS:-800}" --out "$here/ablation-$name" --resume | tail -1
    fi
    for prompts in "$here"/prompts-*.jsonl; do
        answers=$here/ablation-$name-${prompts##*/prompts-}
        if [ -e "$prompts" ] && [ ! -e "$answers" ]; then
            step "$name answers ${prompts##*/}"
            rm -f "$answers.part"
            forge evaluate sample "$here/ablation-$name" "$prompts" --out "$answers.part" \
                --samples "${SAMPLES:-3}" --temperature 0.4 --most-tokens 2600 > "$answers.log"
            mv "$answers.part" "$answers"
        fi
    done
}

ablation whole "$data"/{kernel,variant,repair,document}.jsonl
ablation unthought "$data"/{kernel,variant,repair,document}.jsonl --set reasoning=false
ablation unrepaired "$data"/{kernel,variant,document}.jsonl
step "done"
