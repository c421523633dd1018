#!/usr/bin/env bash
# Runs the tests of the CPU backend, where the unsafe code is, under a checker of memory accesses.
#
#   scripts/sanitize.sh [address]    AddressSanitizer, built in by the compiler
#   scripts/sanitize.sh valgrind     Valgrind's memcheck, on the plain build
#
# Both find reads and writes outside of an allocation and after its end, on the paths that the tests take.
# AddressSanitizer also sees arrays on the stack and runs every instruction set that the processor has;
# Valgrind also sees decisions on uninitialised values, but it may know no AVX-512 and then tests the AVX2 path.
# Neither finds an index that goes wrong but stays within its allocation, nor undefined behaviour that touches no
# wrong memory (aliasing, invalid values, races): that is Miri's to find, which interprets no vector intrinsics of
# its own accord. The debug assertions of the standard library, which are on here, check the arguments of
# unchecked calls.
set -euo pipefail
cd "$(dirname "$0")/.."

TARGET=x86_64-unknown-linux-gnu
case "${1-address}" in
address)
    # A released compiler takes unstable flags only when told that it bootstraps. With a target named, the flags
    # do not reach build scripts and proc macros.
    export RUSTC_BOOTSTRAP=1
    export RUSTFLAGS="-Zsanitizer=address"
    export CARGO_TARGET_DIR=target/sanitize
    ;;
valgrind)
    command -v valgrind >/dev/null || { echo "valgrind is not installed" >&2; exit 1; }
    export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="valgrind --quiet --error-exitcode=99"
    ;;
*)
    sed -n '2,/^set/{/^#/p}' "$0" >&2
    exit 2
    ;;
esac
cargo test --target "$TARGET" --no-default-features -p sim-runtime --lib cpu
