#!/usr/bin/env bash
# Builds the gallery, a folder that any host can serve: a page for each example, an index with their pictures,
# and a benchmark page. Builds the runtime and `simc` if they are missing.
#
#   scripts/web/gallery.sh                into target/web/gallery
#   scripts/web/gallery.sh -o FOLDER      into a new folder, or in place of a gallery
set -euo pipefail
cd "$(dirname "$0")/../.."

OUT=target/web/gallery
if [ "${1-}" = -o ] && [ -n "${2-}" ]; then
    OUT=$2
elif [ $# -gt 0 ]; then
    sed -n '2,6s/^# \?//p' "$0" >&2
    exit 2
fi
if ! [ -e target/web/runtime/version.txt ]; then
    scripts/web/build.sh
fi
if [ -z "${SIMC-}" ]; then
    cargo build --quiet --workspace --bin simc
fi
node web/gallery/build.mjs "$OUT"
printf '\nserve %s with any file server\n' "$OUT"
