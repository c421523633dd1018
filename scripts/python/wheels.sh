#!/usr/bin/env bash
# Builds wheels of the Python package for Linux into target/wheels: one per processor, for Python 3.10 and newer.
#
#   scripts/python/wheels.sh                     for x86-64 and aarch64
#   scripts/python/wheels.sh aarch64             for one of them
#
# Zig is the linker, so that the wheels work with the C library of 2018 (manylinux_2_28) and newer, whatever
# this machine has. It takes Rust's standard library for each processor (`rustup target add`), or as root on
# Debian Rust from there; Python packages come from PyPI. The wheel for this machine is installed in an empty
# environment and runs a model. Elsewhere, `pip install ./python` builds from source.
set -euo pipefail
cd "$(dirname "$0")/../.."

say() { printf '\n== %s\n' "$*"; }

[ $# -gt 0 ] || set -- x86_64 aarch64
VENV=$PWD/target/wheels/tools
[ -x "$VENV/bin/python" ] || python3 -m venv "$VENV"
"$VENV/bin/pip" install -q --disable-pip-version-check "maturin[zig]>=1.16,<2"
export VIRTUAL_ENV=$VENV PATH="$VENV/bin:$PATH"

has_target() { [ -d "$("${RUSTC:-rustc}" --print target-libdir --target "$1" 2>/dev/null)" ]; }

take_target() {
    has_target "$1" && return
    if command -v rustup >/dev/null && rustup target add "$1" >/dev/null 2>&1 && has_target "$1"; then
        return
    fi
    # Debian's Rust lies beside yours, which stays as it is.
    export RUSTC=/usr/bin/rustc CARGO=/usr/bin/cargo
    has_target "$1" && return
    dpkg --add-architecture arm64
    scripts/apt.sh rustc-web cargo-web libstd-rust-web-dev:arm64
    has_target "$1"
}

for processor in "$@"; do
    target=$processor-unknown-linux-gnu
    say "$target"
    (
        take_target "$target"
        maturin build --release --zig --compatibility manylinux_2_28 --target "$target" \
            --manifest-path python/Cargo.toml --out target/wheels
    )
done

case " $* " in *" $(uname -m) "*) ;; *) exit 0 ;; esac
say "the wheel of this machine"
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
python3 -m venv "$fresh"
"$fresh/bin/pip" install -q --disable-pip-version-check target/wheels/simc-*-manylinux_*_"$(uname -m)".whl
"$fresh/bin/python" -c "
import simc
run = simc.load('lang-examples/gbm.sim').run(agents=20_000, seed=7)
print(simc.__version__, run.report.backend, run['call'].mean())
"
ls -l target/wheels/*manylinux*.whl
