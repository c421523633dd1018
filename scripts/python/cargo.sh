#!/usr/bin/env bash
# Stands in for cargo where maturin builds the module for tests (`CARGO`): builds it with the whole workspace, of
# which the tests have built all other crates. By itself it would have other features of 55 of them, which are
# then compiled once more.
set -euo pipefail

if [ "${1-}" = rustc ]; then
    exec cargo build --workspace --lib --message-format json-render-diagnostics
fi
exec cargo "$@"
