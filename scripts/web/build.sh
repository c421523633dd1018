#!/usr/bin/env bash
# Builds the runtime for JavaScript into target/web/runtime: the modules of WebAssembly, their bindings, the
# shell around them and the page of built models; with the compiler in the folder `compiler`, which no page
# needs. Prints the sizes.
#
#   scripts/web/build.sh           what a release has
#   scripts/web/build.sh --names   with the names of functions, for profiles
#
# It takes your Rust or Debian's (scripts/web/toolchain.sh). wasm-bindgen-cli, in the version of the crate,
# esbuild and binaryen go into target/web/tools.
set -euo pipefail
cd "$(dirname "$0")/../.."

say() { printf '\n== %s\n' "$*"; }

source scripts/web/toolchain.sh
OUT=target/web/runtime
FORMS=(--strip-debug --strip-producers --strip-target-features)
[ "${1-}" = --names ] && FORMS=(-g)
mkdir -p "$TOOLS" "$OUT/compiler"

version=$(sed -n '/^name = "wasm-bindgen"$/{n;s/version = "\(.*\)"/\1/p}' Cargo.lock)
if ! "$TOOLS/bin/wasm-bindgen" --version 2>/dev/null | grep -qF "$version"; then
    say "wasm-bindgen $version"
    cargo install --quiet --debug --root "$TOOLS" --version "$version" wasm-bindgen-cli
fi
need_tools

say "the module"
build_wasm sim-web --features "${SIM_WEB_FEATURES-gpu}"
"$TOOLS/bin/wasm-bindgen" --target web --out-dir "$OUT" "target/web/cargo/$TARGET/web/sim_web.wasm"
rm -f "$OUT"/*.wasm.d.ts
named=$OUT/sim_web_bg.wasm
text=$OUT/named.wat
"$BINARYEN/wasm-dis" "${FEATURES[@]}" "$named" -o "$text"
# LLVM takes relaxed minima and maxima, too, which differ between processors where a value is NaN.
sed -i 's/\(f[0-9x]*\)\.relaxed_\(min\|max\)/\1.p\2/' "$text"
"$BINARYEN/wasm-as" "${FEATURES[@]}" -g "$text" -o "$named"
optimised "$named" "$OUT/sim_web_relaxed_bg.wasm" "${FORMS[@]}"

say "the module without relaxed vector instructions"
# Where they are missing, or not fused, a function stands in place of each.
sed -i -e 's/(f32x4\.relaxed_madd$/(call $fused_multiply_add/' \
    -e 's/(f32x4\.relaxed_nmadd$/(call $fused_negative_multiply_add/' "$text"
if grep -q '\.relaxed_' "$text"; then
    echo "a relaxed vector instruction has no counterpart here:" >&2
    grep -o '[a-z0-9]*\.relaxed_[a-z0-9_]*' "$text" | sort | uniq -c >&2
    exit 1
fi
"$BINARYEN/wasm-as" "${FEATURES[@]}" -g "$text" -o "$named"
optimised "$named" "$named" "${FORMS[@]}"
rm "$text"

cp web/runtime/js/*.js web/runtime/js/*.d.ts web/runtime/page/* "$OUT/"
# A page has at most 20 kB of JavaScript.
for file in sim_web core simc-runtime worker page chart; do
    "$TOOLS/node_modules/.bin/esbuild" --minify --log-level=error --allow-overwrite \
        --outfile="$OUT/$file.js" "$OUT/$file.js"
done
sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1 >"$OUT/version.txt"

say "the compiler"
scripts/web/compiler.sh
cp target/web/compiler/{index.js,simc.wasm,explanations.json} web/runtime/compiler/source.js "$OUT/compiler/"
scripts/web/sizes.sh
