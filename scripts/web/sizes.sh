#!/usr/bin/env bash
# Prints the sizes of what a built page loads, and of the compiler, compressed with gzip, beside their limits.
#
#   scripts/web/sizes.sh --check    fails where one of a page is above its limit
set -euo pipefail
cd "$(dirname "$0")/../../target/web"

KB=1000
failed=0

size() { cat "$@" | gzip -9 | wc -c; }
report() {
    printf '%-42s %8d bytes with gzip, at most %d\n' "$1" "$2" "$3"
    [ "$2" -le "$3" ] || failed=1
}

javascript=0
for file in runtime/*.js; do
    javascript=$((javascript + $(size "$file")))
done
report "JavaScript of a page" "$javascript" $((20 * KB))
report "module of the runtime" "$(size runtime/sim_web_relaxed_bg.wasm)" $((350 * KB))
report "the same without relaxed instructions" "$(size runtime/sim_web_bg.wasm)" $((350 * KB))
if [ -e compiler/simc.wasm ]; then
    # The aim is 500 kB.
    report "module of the compiler" "$(size compiler/simc.wasm)" $((610 * KB))
fi
if [ "${1-}" = --check ]; then
    exit $failed
fi
