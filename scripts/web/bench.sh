#!/usr/bin/env bash
# Speed of the CPU backend in WebAssembly, with and without relaxed vector instructions, beside the native one
# with AVX2, a hand-written loop of JavaScript and one of Rust in WebAssembly, on one core each. Needs
# `scripts/web/build.sh`, and for the last one Rust's target wasm32-unknown-unknown.
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ -z "${BENCH_WORKER-}" ]; then
    cargo build --quiet --release -p sim-runtime --example bench_worker
    export BENCH_WORKER=$PWD/target/release/examples/bench_worker
fi
TARGET=wasm32-unknown-unknown
if [ -d "$(rustc --print target-libdir --target $TARGET)" ] || rustup target add $TARGET >/dev/null 2>&1; then
    rustc --edition 2024 -C opt-level=3 -C panic=abort --crate-type cdylib --target $TARGET \
        -o target/web/scalar.wasm web/runtime/tests/scalar.rs
fi
for model in gbm lorenz; do
    node --experimental-wasm-relaxed-simd web/runtime/tests/bench.mjs "$model" "${AGENTS:-50000}"
    node --no-experimental-wasm-relaxed-simd web/runtime/tests/bench.mjs "$model" "${AGENTS:-50000}"
done
