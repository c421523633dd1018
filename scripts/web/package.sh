#!/usr/bin/env bash
# Makes the npm package `simc-runtime` in target/web/package, for `npm pack` or `npm publish`, of what
# `scripts/web/build.sh` built.
set -euo pipefail
cd "$(dirname "$0")/../.."

PACKAGE=target/web/package
rm -rf "$PACKAGE"
cp -r target/web/runtime "$PACKAGE"
# The page of built models, and what is for `simc`.
rm -f "$PACKAGE"/{page.js,page.css,chart.js,version.txt,sim_web.d.ts}
cp web/runtime/npm/* LICENSE-* "$PACKAGE/"
