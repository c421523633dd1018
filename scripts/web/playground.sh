#!/usr/bin/env bash
# Builds the playground into web/playground/dist, a folder that any host can serve.
#
#   scripts/web/playground.sh           builds the compiler, the runtime and the site
#   scripts/web/playground.sh --test    tests them as well: in Node against `simc`, and in Chromium
#
# It needs Node 20 and npm, and for the tests Chromium, which it installs as root on Debian; CHROMIUM
# names another one.
set -euo pipefail
cd "$(dirname "$0")/../.."

say() { printf '\n== %s\n' "$*"; }

scripts/web/compiler.sh "$@"
if ! [ -e target/web/runtime/simc-runtime.js ]; then
    scripts/web/build.sh
fi

say "the site"
cd web/playground
npm ci --silent --no-audit --no-fund --ignore-scripts
npm run --silent build

if [ "${1-}" = --test ]; then
    say "tests in Chromium"
    if [ -z "${CHROMIUM-}" ] && ! command -v chromium google-chrome >/dev/null; then
        scripts/apt.sh chromium
    fi
    npm test --silent
fi
