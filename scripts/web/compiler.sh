#!/usr/bin/env bash
# Builds the compiler for JavaScript into target/web/compiler: the npm package `simc` with its wasm module.
#
#   scripts/web/compiler.sh           what a release has
#   scripts/web/compiler.sh --test    builds it, and tests it in Node against the command `simc`
#
# The standard library is built from its source, for size: with your Rust if that has its source (`rustup
# component add rust-src`), else with Debian's, installed beside yours as root. It installs binaryen from npm
# into target/web/tools.
set -euo pipefail
cd "$(dirname "$0")/../.."

say() { printf '\n== %s\n' "$*"; }

TARGET=wasm32-unknown-unknown
TOOLS=$PWD/target/web/tools
OUT=target/web/compiler
BINARYEN=132.0.0
mkdir -p "$TOOLS" "$OUT"

say "toolchain"
source scripts/web/toolchain.sh
CARGO=cargo
export RUSTC=rustc
if ! [ -d "$(rustc --print sysroot)/lib/rustlib/src/rust/library" ]; then
    take_debian_rust
fi
"$RUSTC" --version

say "the module"
# For size where the runtime is for speed. A panic ends the instance without a text: what would write it is a
# tenth of the module.
export CARGO_PROFILE_WEB_OPT_LEVEL=z
cargo=target/web/cargo-compiler
RUSTFLAGS="-Zunstable-options -Cpanic=immediate-abort" RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$cargo \
    "$CARGO" build --profile web --target $TARGET -p sim-web-compiler \
    -Zbuild-std=std,panic_abort -Zbuild-std-features=optimize_for_size
built=$cargo/$TARGET/web/sim_web_compiler.wasm

say "wasm-opt"
if ! [ -x "$TOOLS/node_modules/.bin/wasm-opt" ]; then
    npm install --silent --no-audit --no-fund --prefix "$TOOLS" "binaryen@$BINARYEN"
fi
if ! [ "$OUT/simc.wasm" -nt "$built" ]; then
    "$TOOLS/node_modules/.bin/wasm-opt" -Oz --enable-bulk-memory --enable-nontrapping-float-to-int \
        --enable-sign-ext --enable-mutable-globals --enable-reference-types --enable-multivalue \
        "$built" -o "$OUT/simc.wasm"
fi
cp web/compiler/js/* "$OUT/"
sizes=("$(wc -c <"$OUT/simc.wasm")" "$(gzip -9 <"$OUT/simc.wasm" | wc -c)")
printf '%8d B, gzip %8d B  %s\n' "${sizes[@]}" "$OUT/simc.wasm"

if [ "${1-}" = --test ]; then
    say "tests"
    unset RUSTC
    cargo build -p simc
    node --test web/compiler/tests/
    node web/compiler/tests/times.mjs
fi
