#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Keep the results of this commit: benchmarks/results/*.json (results/README.md says what is in them).
#
#   benchmarks/keep_suites.sh [MKB=DIR] [NPUKB=DIR] [CANNBENCH=DIR] [OUT=DIR] [RESULTS=DIR] [OPTION...]
#
# MKB, NPUKB and CANNBENCH are checkouts of MultiKernelBench, NPUKernelBench and CANN Bench; a suite
# without a checkout is left out. Runs lie in OUT (build/suites), kept files go to RESULTS. OPTIONs
# go to every `npuforge bench`: --jobs N, --tasks GLOB, --commit NAME, --limit SECONDS, --resume.
# With --resume a killed run goes on, and what is complete is only written again.
set -u
here=$(cd "$(dirname "$0")" && pwd)
OUT=build/suites RESULTS=$here/results MKB='' NPUKB='' CANNBENCH=''
program=$here/../.venv/bin/npuforge
[ -x "$program" ] || program=npuforge
options=()
for word in "$@"; do
  case $word in
    MKB=* | NPUKB=* | CANNBENCH=* | OUT=* | RESULTS=*) printf -v "${word%%=*}" %s "${word#*=}" ;;
    *) options+=("$word") ;;
  esac
done
mkdir -p "$OUT" "$RESULTS" || exit 2
child=
trap 'trap - EXIT; [ -z "$child" ] || kill "$child" 2>/dev/null; exit 130' INT TERM HUP

keep() { # NAME SUITE ARGUMENT...: status 1 of a run says that tasks failed, which is a result too
  local name=$1 status
  shift
  echo "== $name" >&2
  "$program" bench "$@" --out "$OUT/$name" --keep "$RESULTS/$name.json" "${options[@]}" &
  child=$!
  wait "$child"
  status=$?
  child=
  [ "$status" -le 1 ] || exit "$status"
}

vector=activation,loss,math,normalization,optimizer,reduce,pooling,broadcast,index,resize
keep forge forge
[ -z "$MKB" ] || keep multikernelbench multikernelbench --path "$MKB" --categories "$vector"
[ -z "$CANNBENCH" ] || keep cannbench cannbench --path "$CANNBENCH" --levels 1,2
if [ -n "$NPUKB" ]; then
  keep npukernelbench npukernelbench --path "$NPUKB" --levels 1,2 --shapes scaled
  keep npukernelbench_reference npukernelbench --path "$NPUKB" --levels 1,2 --shapes scaled \
    --answers reference
fi
