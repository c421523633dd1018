#!/usr/bin/env bash
# Installs Debian packages, as root: scripts/apt.sh PACKAGE...
#
# One caller at a time: apt-get does not wait while another one updates the lists.
set -euo pipefail

exec flock "${TMPDIR:-/tmp}/simc-apt.lock" bash -euc '
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-remove --no-install-recommends "$@" >/dev/null
' apt "$@"
