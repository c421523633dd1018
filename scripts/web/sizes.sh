#!/usr/bin/env bash
# Prints the sizes of what a built page loads, compressed with gzip, beside their limits.
set -euo pipefail
cd "$(dirname "$0")/../../target/web/runtime"

KB=1000
MOST_JAVASCRIPT=$((20 * KB))
MOST_MODULE=$((350 * KB))
failed=0

size() { cat "$@" | gzip -9 | wc -c; }
report() {
    printf '%-34s %8d bytes with gzip, at most %d\n' "$1" "$2" "$3"
    [ "$2" -le "$3" ] || failed=1
}

javascript=0
for file in *.js; do
    javascript=$((javascript + $(size "$file")))
done
report "JavaScript of a page" "$javascript" $MOST_JAVASCRIPT
report "module of the runtime" "$(size sim_web_bg.wasm)" $MOST_MODULE
printf '%-34s %8d bytes\n' "module, not compressed" "$(wc -c <sim_web_bg.wasm)"
if [ "${1-}" = --check ]; then
    exit $failed
fi
