#!/usr/bin/env bash
# Installs the Python package in a virtual environment of its own and tests it: pytest, mypy, pyright, ruff.
#
#   scripts/python/test.sh                 what CI does
#   scripts/python/test.sh -k sweep        arguments go to pytest
#
# It takes Python 3.10 or newer with venv; as root on Debian it installs it. Packages come from PyPI.
set -euo pipefail
cd "$(dirname "$0")/../../python"

say() { printf '\n== %s\n' "$*"; }

if ! python3 -c 'import ensurepip, venv' >/dev/null 2>&1; then
    ../scripts/apt.sh python3 python3-venv
fi
VENV=../target/python
[ -x "$VENV/bin/python" ] || python3 -m venv "$VENV"
# What follows is found by these, and cargo builds for this interpreter.
VIRTUAL_ENV=$(cd "$VENV" && pwd)
export VIRTUAL_ENV PATH="$VIRTUAL_ENV/bin:$PATH"
pip install -q --disable-pip-version-check "maturin>=1.16,<2" numpy pyarrow polars pandas tqdm \
    gymnasium matplotlib ipython ray distributed pytest mypy "pyright[nodejs]" ruff

say "build"
# The profile and the features of other tests: most crates are built already.
CARGO=$PWD/../scripts/python/cargo.sh maturin develop --profile dev --quiet

say "tests"
python -m pytest -q "$@"

say "types"
mypy simc tests benchmarks examples/gym/*.py
pyright --warnings

say "lints"
ruff check .
ruff format --check .
