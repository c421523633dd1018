#!/usr/bin/env bash
# Speed of the CPU backend in WebAssembly beside the native one and a hand-written loop of JavaScript, on one
# core each. Needs `scripts/web/build.sh`.
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ -z "${SIMC-}" ]; then
    cargo build --quiet --release -p simc
    SIMC=target/release/simc
fi
for model in gbm lorenz; do
    SIMC=$SIMC RAYON_NUM_THREADS=1 node web/runtime/tests/bench.mjs "$model" "${AGENTS:-50000}"
done
