#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the operator package: build_out/custom_opp_<system>_<machine>.run
set -euo pipefail

if [ -z "${ASCEND_HOME_PATH:-}" ]; then
    echo "ASCEND_HOME_PATH is not set: source the toolkit's set_env.sh first" >&2
    exit 1
fi

cd "$(dirname "$0")"
cmake -S . -B build_out --preset=default
cmake --build build_out --target binary package -j"$(nproc)"
