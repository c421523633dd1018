#!/usr/bin/env bash
# Tests of the runtime for JavaScript: in Node on the CPU and on a GPU (Dawn), in Pyodide, and built pages in
# headless Chromium. Builds what they need, and installs what is missing.
#
#   scripts/web/test.sh            builds the runtime first
#   scripts/web/test.sh --built    takes it as scripts/web/build.sh has just built it
set -euo pipefail
cd "$(dirname "$0")/../.."

say() { printf '\n== %s\n' "$*"; }

if ! node -e 'process.exit(process.versions.node.split(".")[0] >= 20 ? 0 : 1)' 2>/dev/null; then
    printf '\nSKIPPED: the runtime for the web is tested in Node 20 or newer, which is not here\n'
    exit 0
fi
TOOLS=$PWD/target/web/tools
export CHROMIUM=${CHROMIUM:-/usr/bin/chromium}
if ! [ -x "$CHROMIUM" ]; then
    scripts/apt.sh chromium
fi
[ "${1-}" = --built ] || scripts/web/build.sh
scripts/web/sizes.sh --check
for tool in pyodide playwright-core webgpu typescript; do
    if ! [ -d "$TOOLS/node_modules/$tool" ]; then
        npm install --silent --no-audit --no-fund --prefix "$TOOLS" playwright-core@1.65.1 pyodide@314.0.7 \
            webgpu@0.6.2 typescript@7.0.2
    fi
done
say "simc"
# With the workspace, as its tests have built the crates.
cargo build --quiet --workspace --bin simc
say "the package and the gallery"
scripts/web/package.sh
scripts/web/gallery.sh
say "tests"
# A driver in software that never comes back must not keep the tests forever.
TEST=(--test --test-concurrency=1 --test-timeout=600000)
node "${TEST[@]}" web/runtime/tests/*.test.mjs web/gallery/tests/*.test.mjs
say "tests of the CPU with relaxed vector instructions"
node --experimental-wasm-relaxed-simd "${TEST[@]}" web/runtime/tests/{bits,examples}.test.mjs
