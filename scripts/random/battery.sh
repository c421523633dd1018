#!/usr/bin/env bash
# Runs the test batteries over the stream orders of `random_stream` and writes a
# summary: one row an order, one column a battery.
#
#   scripts/random/battery.sh [quick|full] [ORDER…]
#
# quick   a choice of dieharder's tests, SmallCrush, PractRand to 256 MB
# full    dieharder -a, Crush, PractRand to 16 GB (hours an order)
#
# GENERATOR=philox   tests the other generator (orders without k0 and k1)
# SEED=1             the seed of the streams
# JOBS=2             orders at a time
# OUT=DIR            where logs and summary.md go (default target/random-battery)
# TESTU01=DIR        prefix that TestU01 is installed under, to run it too
# RNG_TEST=FILE      PractRand's RNG_test, to run it too
set -euo pipefail
cd "$(dirname "$0")/../.."

AGENT_ORDERS=(agent steps agents agent-pairs seeds seeds-high two-agents two-seeds
    long-step agent-reversed steps-reversed agents-reversed)
KEY_ORDERS=(k0-plus-1 k1-plus-1 k0-top-bit k1-top-bit k0-bits k1-bits k0-counter k1-counter)
# Birthday spacings, 6x8 ranks, bit stream, counted ones in words and bytes, runs, STS
# monobit, DAB fill tree and monobit: a minute an order.
QUICK_TESTS=(0 3 4 8 9 15 100 208 209)

mode=${1:-quick}
shift || true
export generator=${GENERATOR:-keyed-hash} seed=${SEED:-1} mode
export out=${OUT:-target/random-battery}
orders=("$@")
if [ ${#orders[@]} -eq 0 ]; then
    orders=("${AGENT_ORDERS[@]}")
    if [ "$generator" = keyed-hash ]; then orders+=("${KEY_ORDERS[@]}"); fi
fi
case $mode in
    quick) export quick_tests="${QUICK_TESTS[*]}" crush=small practrand_max=256MB ;;
    full) export quick_tests="" crush=crush practrand_max=16GB ;;
    *) echo "usage: battery.sh [quick|full] [ORDER…]" >&2; exit 2 ;;
esac

if ! command -v dieharder >/dev/null; then
    apt-get update && apt-get install -y dieharder
fi
mkdir -p "$out"
cargo build --release --quiet -p sim-compiler --example random_stream
export stream=${CARGO_TARGET_DIR:-target}/release/examples/random_stream
export testu01="" practrand=${RNG_TEST:-}
if [ -n "${TESTU01:-}" ]; then
    testu01=$out/testu01_stdin
    cc -O2 -I"$TESTU01/include" -o "$testu01" scripts/random/testu01_stdin.c \
        -L"$TESTU01/lib" -ltestu01 -lprobdist -lmylib -lm
fi

# One order through every battery at hand; the stream ends by SIGPIPE or a closed
# pipe when the battery has read enough, so only the reader's own status counts.
test_order() {
    set +o pipefail
    local order=$1 log=$out/$mode-$generator-$1 test
    : >"$log.dieharder"
    if [ -n "$quick_tests" ]; then
        for test in $quick_tests; do
            "$stream" "$order" "$generator" "$seed" |
                dieharder -g 200 -d "$test" -D 8 -D 16 -D 32 -D 128 -D 256 -c , >>"$log.dieharder"
        done
    else
        "$stream" "$order" "$generator" "$seed" |
            dieharder -g 200 -a -D 8 -D 16 -D 32 -D 128 -D 256 -c , >"$log.dieharder"
    fi
    if [ -n "$testu01" ]; then
        "$stream" "$order" "$generator" "$seed" | "$testu01" "$crush" >"$log.testu01"
    fi
    if [ -n "$practrand" ]; then
        "$stream" "$order" "$generator" "$seed" |
            "$practrand" stdin32 -tlmin 1MB -tlmax "$practrand_max" >"$log.practrand"
    fi
    summarise "$order" "$log" >"$log.row"
    echo "$order done" >&2
}

summarise() {
    local order=$1 log=$2 crushed=- ranged=- count
    if [ -f "$log.testu01" ]; then
        # The battery's closing list has one line for each p-value outside [0.001, 0.999].
        if grep -q 'All tests were passed' "$log.testu01"; then
            crushed=passed
        else
            count=$(sed -n '/The following tests gave/,$p' "$log.testu01" | grep -cE '^ +[0-9]+ ' || true)
            crushed="$count outside"
        fi
    fi
    if [ -f "$log.practrand" ]; then
        ranged=$(grep -oE '^length= [0-9]+ [a-z]+' "$log.practrand" | tail -n 1)
        ranged="${ranged#length= }, $(grep -c FAIL "$log.practrand" || true) FAIL"
    fi
    echo "| $order | $(grep -cE ', *PASSED' "$log.dieharder" || true) |" \
        "$(grep -cE ', *WEAK' "$log.dieharder" || true) | $(grep -cE ', *FAILED' "$log.dieharder" || true) |" \
        "$crushed | $ranged |"
}
export -f test_order summarise

printf '%s\n' "${orders[@]}" | xargs -P "${JOBS:-2}" -I{} bash -c 'test_order {}'

{
    echo "$generator, seed $seed, $mode, $(date -u +%F), $(dieharder -h 2>&1 | grep -oE 'version [0-9.]+' | head -n 1)"
    echo
    echo "| order | dieharder PASSED | WEAK | FAILED | TestU01 $crush | PractRand to |"
    echo "|---|--:|--:|--:|---|---|"
    for order in "${orders[@]}"; do cat "$out/$mode-$generator-$order.row"; done
} | tee "$out/summary-$mode-$generator.md"
