#!/usr/bin/env bash
# Builds the compiler for JavaScript into target/web/compiler: the npm package `simc` with its wasm module.
#
#   scripts/web/compiler.sh           what a release has
#   scripts/web/compiler.sh --test    builds it, and tests it in Node against the command `simc`
#
# It takes your Rust or Debian's (scripts/web/toolchain.sh), and installs binaryen from npm into target/web/tools.
set -euo pipefail
cd "$(dirname "$0")/../.."

say() { printf '\n== %s\n' "$*"; }

source scripts/web/toolchain.sh
OUT=target/web/compiler
mkdir -p "$TOOLS" "$OUT"
need_tools

say "the module"
# Sorted by their names as Rust writes them, functions that are alike are nearer than by those of the linker.
# A loop that keeps each address it needs in a variable of its own is larger.
build_wasm sim-web-compiler -- -Clink-arg=--demangle -Cllvm-args=-disable-lsr
built=target/web/cargo/$TARGET/web/sim_web_compiler.wasm
if ! [ "$OUT/simc.wasm" -nt "$built" ]; then
    # With gzip, more passes and data without zeros take more.
    PASSES="-O1 --skip-pass=memory-packing" optimised "$built" "$OUT/simc.wasm" \
        --strip-debug --strip-producers --strip-target-features
fi
cp web/compiler/js/* "$OUT/"
# With the workspace, as its tests have built the crates.
(unset RUSTC && cargo build --quiet --workspace --example explanations)
"${CARGO_TARGET_DIR:-target}/debug/examples/explanations" >"$OUT/explanations.json"
sizes=("$(wc -c <"$OUT/simc.wasm")" "$(gzip -9 <"$OUT/simc.wasm" | wc -c)")
printf '%8d B, gzip %8d B  %s\n' "${sizes[@]}" "$OUT/simc.wasm"

if [ "${1-}" = --test ]; then
    say "tests"
    unset RUSTC
    cargo build --workspace --bin simc
    node --test web/compiler/tests/
    node web/compiler/tests/times.mjs
fi
