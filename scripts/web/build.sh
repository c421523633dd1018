#!/usr/bin/env bash
# Builds the runtime for JavaScript into target/web/runtime: sim_web_bg.wasm, its bindings and the shell.
#
#   scripts/web/build.sh           what a release has: optimised for speed, then for size by wasm-opt
#   scripts/web/build.sh --quick   without wasm-opt
#
# It takes your Rust if that has wasm32-unknown-unknown (`rustup target add wasm32-unknown-unknown`), or a Rust
# with its standard library's source in /usr, as Debian's rustc-web, cargo-web and rust-web-src. It installs
# wasm-bindgen-cli (in the version of the crate) and binaryen into target/web/tools.
set -euo pipefail
cd "$(dirname "$0")/../.."

say() { printf '\n== %s\n' "$*"; }

TARGET=wasm32-unknown-unknown
TOOLS=$PWD/target/web/tools
OUT=target/web/runtime
FEATURES=(${SIM_WEB_FEATURES-})
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
    if ! [ -d "$(/usr/bin/rustc --print sysroot)/lib/rustlib/src/rust/library" ]; then
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-remove \
            --no-install-recommends rustc-web cargo-web rust-web-src >/dev/null
    fi
    export RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1
    CARGO=/usr/bin/cargo
    STD=(-Zbuild-std=std,panic_abort)
fi

say "the module"
# simd128 is in every browser since 2023; bulk memory is what `memory.copy` needs.
RUSTFLAGS="-C target-feature=+simd128,+bulk-memory" CARGO_TARGET_DIR=target/web/cargo "$CARGO" build \
    --profile web --target $TARGET -p sim-web ${FEATURES[@]+--features "${FEATURES[*]}"} "${STD[@]}"
"$TOOLS/bin/wasm-bindgen" --target web --out-dir "$OUT" "target/web/cargo/$TARGET/web/sim_web.wasm"

if [ "${1-}" != --quick ]; then
    say "wasm-opt"
    [ -x "$TOOLS/node_modules/.bin/wasm-opt" ] ||
        npm install --silent --no-audit --no-fund --prefix "$TOOLS" binaryen@131.0.0
    "$TOOLS/node_modules/.bin/wasm-opt" "${SIM_WASM_OPT--O3}" --enable-simd --enable-bulk-memory \
        --enable-nontrapping-float-to-int --enable-sign-ext --enable-mutable-globals \
        --enable-reference-types --enable-multivalue \
        "$OUT/sim_web_bg.wasm" -o "$OUT/sim_web_bg.wasm"
fi
cp web/runtime/js/*.js web/runtime/js/*.d.ts "$OUT/"
for file in "$OUT"/*.wasm "$OUT"/*.js; do
    printf '%8d B, gzip %8d B  %s\n' "$(wc -c <"$file")" "$(gzip -9 <"$file" | wc -c)" "$file"
done
