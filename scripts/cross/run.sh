#!/usr/bin/env bash
# Tests the CPU backend on aarch64 Linux, under QEMU, and builds it for wasm32; both without the GPU.
#
#   scripts/cross/run.sh           what CI does: tests of what may differ between processors
#   scripts/cross/run.sh --all     all tests, which takes many minutes under QEMU
#   scripts/cross/run.sh --simc    builds simc for aarch64 too, and runs a model with it
#
# It takes your Rust if that has the two targets (`rustup target add aarch64-unknown-linux-gnu
# wasm32-unknown-unknown`), a cross linker and qemu-user. Otherwise, as root on Debian, it installs Debian's
# Rust beside yours, without its touching yours; wasm32's standard library is then built from its source.
# Where neither can be had it says so and succeeds.
set -euo pipefail
cd "$(dirname "$0")/../.."

ARM=aarch64-unknown-linux-gnu
WASM=wasm32-unknown-unknown
PACKAGES=(rustc-web cargo-web libstd-rust-web-dev:arm64 rust-web-src gcc-aarch64-linux-gnu
    libc6-dev-arm64-cross qemu-user)

say() { printf '\n== %s\n' "$*"; }
skip() {
    printf '\nSKIPPED: %s\n' "$*"
    exit 0
}
has_target() { [ -d "$("$RUSTC" --print target-libdir --target "$1" 2>/dev/null)" ]; }

# Installs what is missing; never at the price of removing a package.
install_debian() {
    command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] && [ "$(dpkg --print-architecture)" = amd64 ] ||
        skip "no Rust for $ARM and $WASM here, and no apt-get as root to install one"
    if ! dpkg -s "${PACKAGES[@]}" >/dev/null 2>&1; then
        dpkg --add-architecture arm64
        scripts/apt.sh "${PACKAGES[@]}" ||
            skip "apt-get cannot install ${PACKAGES[*]}"
    fi
    local needed found
    needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    found=$(/usr/bin/rustc --version | cut -d' ' -f2)
    [ "$(printf '%s\n' "$needed" "$found" | sort -V | head -1)" = "$needed" ] ||
        skip "Debian's Rust is $found, and $needed is needed"
}

say "toolchain"
export RUSTC=rustc
CARGO=cargo
STD=()
if ! { has_target $ARM && has_target $WASM && command -v aarch64-linux-gnu-gcc qemu-aarch64 >/dev/null; }; then
    install_debian
    export RUSTC=/usr/bin/rustc RUSTDOC=/usr/bin/rustdoc
    CARGO=/usr/bin/cargo
    # For `-Zbuild-std`. Set for all, or the proc macros would be built once with it and once without.
    export RUSTC_BOOTSTRAP=1
    STD=(-Zbuild-std=std,panic_abort)
fi
"$RUSTC" --version

export CARGO_TARGET_DIR=target/cross
# Nobody debugs what is built here.
export CARGO_PROFILE_DEV_DEBUG=0
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
# With the multiarch C library QEMU needs no `-L`, and must not have it: it would mix two C libraries, and
# programs would hang at their first thread.
if [ -e /lib/ld-linux-aarch64.so.1 ]; then
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64"
else
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
fi

# Both CPU backends against one another and against known numbers: operations, functions, draws, statistics,
# specimens and random models. What reads texts, plans runs or drives GPUs is the same on every processor.
TESTS=(cpu:: both_backends every_example_holds special_values statistics::tests activations draws:: draws_edge
    drift random_models each_specimen_gives_its_numbers --skip would_fill_the_memory)
[ "${1-}" = --all ] && TESTS=()

say "$ARM: the CPU backend under QEMU"
# A GPU is not expected here, whatever the surroundings expect.
SIM_REQUIRE_GPU=0 SIM_MODELS="${SIM_MODELS:-10}" SIM_GRADIENTS="${SIM_GRADIENTS:-30}" \
    "$CARGO" test --target $ARM --no-default-features -p sim-runtime -p sim-tests --lib --tests -- "${TESTS[@]}"

say "$WASM: the CPU backend builds"
# What is only built need not be fast.
CARGO_PROFILE_DEV_OPT_LEVEL=0 "$CARGO" build --target $WASM --no-default-features -p sim-runtime \
    --config 'profile.dev.package.sim-runtime.opt-level=0' "${STD[@]}"

if [ "${1-}" = --simc ]; then
    say "$ARM: simc"
    "$CARGO" run --target $ARM --no-default-features -p simc -- \
        run lang-examples/gbm.sim --agents 1000 --steps 100
fi
