#!/usr/bin/env bash
# Builds the runtime for JavaScript into target/web/runtime: the module of WebAssembly, its bindings, the
# shell around it and the page of built models. Prints the sizes.
#
#   scripts/web/build.sh           what a release has
#   scripts/web/build.sh --names   with the names of functions, for profiles
#
# It takes your Rust if that has wasm32-unknown-unknown (`rustup target add wasm32-unknown-unknown`).
# Otherwise, as root on Debian, it installs Debian's Rust beside yours, and builds the standard library from its
# source. wasm-bindgen-cli, in the version of the crate, and esbuild go into target/web/tools.
set -euo pipefail
cd "$(dirname "$0")/../.."

say() { printf '\n== %s\n' "$*"; }

TARGET=wasm32-unknown-unknown
TOOLS=$PWD/target/web/tools
OUT=target/web/runtime
NAMES=(--remove-name-section --remove-producers-section)
[ "${1-}" = --names ] && NAMES=()
mkdir -p "$TOOLS" "$OUT"

version=$(sed -n '/^name = "wasm-bindgen"$/{n;s/version = "\(.*\)"/\1/p}' Cargo.lock)
if ! "$TOOLS/bin/wasm-bindgen" --version 2>/dev/null | grep -qF "$version"; then
    say "wasm-bindgen $version"
    cargo install --quiet --debug --root "$TOOLS" --version "$version" wasm-bindgen-cli
fi

CARGO=cargo
STD=()
export RUSTC=rustc
if ! [ -d "$(rustc --print target-libdir --target $TARGET 2>/dev/null)" ]; then
    source scripts/web/toolchain.sh
    take_debian_rust
    export RUSTC_BOOTSTRAP=1
    STD=(-Zbuild-std=std,panic_abort)
fi

say "the module"
# Every browser has simd128 since 2023.
RUSTFLAGS="-C target-feature=+simd128,+bulk-memory" CARGO_TARGET_DIR=target/web/cargo "$CARGO" build \
    --profile web --target $TARGET -p sim-web --features "${SIM_WEB_FEATURES-gpu}" "${STD[@]}"
"$TOOLS/bin/wasm-bindgen" --target web --out-dir "$OUT" "${NAMES[@]}" \
    "target/web/cargo/$TARGET/web/sim_web.wasm"

# No wasm-opt: it takes longer than all tests, and `-Oz` leaves 1,062 of 1,064 kB.
if ! [ -x "$TOOLS/node_modules/.bin/esbuild" ]; then
    npm install --silent --no-audit --no-fund --prefix "$TOOLS" esbuild@0.28.2
fi
rm -f "$OUT"/*.wasm.d.ts
cp web/runtime/js/*.js web/runtime/js/*.d.ts web/runtime/page/* "$OUT/"
# A page has at most 20 kB of JavaScript.
for file in sim_web core simc-runtime worker page chart; do
    "$TOOLS/node_modules/.bin/esbuild" --minify --log-level=error --allow-overwrite \
        --outfile="$OUT/$file.js" "$OUT/$file.js"
done
sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1 >"$OUT/version.txt"
scripts/web/sizes.sh
