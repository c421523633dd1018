#!/usr/bin/env bash
# Makes `sim-VERSION.vsix` in this folder from the pinned npm packages.
set -euo pipefail
cd "$(dirname "$0")"
[ -d node_modules ] || npm ci --no-audit --no-fund
npx --no-install vsce package --no-dependencies --allow-missing-repository --skip-license "$@"
