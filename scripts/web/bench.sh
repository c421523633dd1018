#!/usr/bin/env bash
# Speed of the CPU backend in WebAssembly, with and without relaxed vector instructions, beside the native one
# with AVX2 and a hand-written loop of JavaScript, on one core each. Needs `scripts/web/build.sh`.
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ -z "${BENCH_WORKER-}" ]; then
    cargo build --quiet --release -p sim-runtime --example bench_worker
    export BENCH_WORKER=$PWD/target/release/examples/bench_worker
fi
for model in gbm lorenz; do
    node --experimental-wasm-relaxed-simd web/runtime/tests/bench.mjs "$model" "${AGENTS:-50000}"
    node --no-experimental-wasm-relaxed-simd web/runtime/tests/bench.mjs "$model" "${AGENTS:-50000}"
done
