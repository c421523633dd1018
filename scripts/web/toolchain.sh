# Sourced by scripts that build for wasm32 with a standard library from its source.

# Takes Debian's Rust: sets RUSTC and CARGO to it, and installs it beside yours, as root, if it is missing.
take_debian_rust() {
    export RUSTC=/usr/bin/rustc
    CARGO=/usr/bin/cargo
    local source install
    source=$("$RUSTC" --print sysroot 2>/dev/null)/lib/rustlib/src/rust/library
    install=(apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-remove --no-install-recommends)
    export DEBIAN_FRONTEND=noninteractive
    if ! [ -d "$source" ] || ! [ -x "$CARGO" ] || ! [ -x /usr/bin/rust-lld ]; then
        apt-get update -qq
        "${install[@]}" rustc-web cargo-web rust-web-src rust-web-llvm >/dev/null
        # The linker is a link to a program of LLVM, whose package only recommends it.
        [ -x /usr/bin/rust-lld ] || "${install[@]}" "$(basename "$(readlink /usr/bin/rust-lld)")" >/dev/null
    fi
}
