# Sourced by the scripts that build modules of WebAssembly.

TARGET=wasm32-unknown-unknown
TOOLS=$PWD/target/web/tools
BINARYEN=$TOOLS/node_modules/.bin
# What binaryen may use.
FEATURES=(--mvp-features)
for feature in simd relaxed-simd bulk-memory bulk-memory-opt nontrapping-float-to-int sign-ext mutable-globals \
    reference-types multivalue; do
    FEATURES+=("--enable-$feature")
done

# Installs binaryen and esbuild from npm.
need_tools() {
    if ! [ -x "$BINARYEN/wasm-opt" ] || ! [ -x "$BINARYEN/esbuild" ]; then
        npm install --silent --no-audit --no-fund --prefix "$TOOLS" binaryen@132.0.0 esbuild@0.28.2
    fi
}

# Makes a module small that has the names of its functions: FROM TO, and more options. Sorted by their names, like
# functions are near each other, so that gzip finds what they share; -Oz gives a smaller module, but a larger
# one with gzip. PASSES are other passes than -O2.
optimised() {
    local from=$1 to=$2 passes
    read -ra passes <<<"${PASSES:--O2}"
    shift 2
    "$BINARYEN/wasm-opt" "${FEATURES[@]}" "${passes[@]}" --reorder-functions-by-name -g "$from" -o "$to"
    "$BINARYEN/wasm-opt" "${FEATURES[@]}" "$@" "$to" -o "$to"
}

# Builds a crate as target/web/cargo/$TARGET/web/*.wasm, with more arguments for cargo if there are any, and behind
# `--` for the compilation of the whole module. One folder and one set of options for all of them, so that they
# share the standard library and most crates.
#
# * The standard library is built from its source, for size: with your Rust if that has the source (`rustup
#   component add rust-src`), else with Debian's, installed beside yours as root.
# * A panic ends the instance without a text: what would write it is a tenth of a module.
# * Crates share the instances of generic functions: otherwise the vector machine is there twice, for the
#   crate that has it and for the one that calls it.
# * Every browser has simd128 since 2023. Relaxed vector instructions come only from the loops of the runtime.
build_wasm() {
    CARGO=cargo
    RUSTC=rustc
    if ! [ -d "$(rustc --print sysroot)/lib/rustlib/src/rust/library" ]; then
        take_debian_rust
    fi
    export RUSTC
    "$RUSTC" --version
    local flags="-Ctarget-feature=+simd128,+relaxed-simd,+bulk-memory -Zunstable-options -Cpanic=immediate-abort"
    flags+=" -Zshare-generics=yes --cfg sim_web"
    RUSTFLAGS="$flags" RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=target/web/cargo "$CARGO" rustc \
        --profile web --target $TARGET -Zbuild-std=std,panic_abort -Zbuild-std-features=optimize_for_size \
        -p "$@"
}

# Takes Debian's Rust: sets RUSTC and CARGO to it, and installs it beside yours, as root, if it is missing.
take_debian_rust() {
    RUSTC=/usr/bin/rustc
    CARGO=/usr/bin/cargo
    local source
    source=$("$RUSTC" --print sysroot 2>/dev/null || true)/lib/rustlib/src/rust/library
    if ! [ -d "$source" ] || ! [ -x "$CARGO" ] || ! [ -x /usr/bin/rust-lld ]; then
        scripts/apt.sh rustc-web cargo-web rust-web-src rust-web-llvm
        # The linker is a link to a program of LLVM, whose package only recommends it.
        [ -x /usr/bin/rust-lld ] || scripts/apt.sh "$(basename "$(readlink /usr/bin/rust-lld)")"
    fi
}
