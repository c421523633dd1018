#!/usr/bin/env bash
# Tests what editors show of the language, in the editors' own engines. What is not installed is skipped, and
# said so; with SIM_REQUIRE_EDITORS=1 it is a failure. The word lists and the tree-sitter grammar are also
# tested by `cargo test -p sim-tests --test integration`.
set -uo pipefail
cd "$(dirname "$0")/.."

failed=0
skipped=0
passed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# run NAME COMMAND… : the command's output is shown if it fails.
run() {
    local name=$1
    shift
    if "$@" >"$log" 2>&1; then
        passed=$((passed + 1))
        printf 'ok       %s\n' "$name"
    else
        failed=$((failed + 1))
        printf 'FAILED   %s\n' "$name"
        sed 's/^/    /' "$log"
    fi
}

skip() {
    if [ "${SIM_REQUIRE_EDITORS:-0}" = 1 ]; then
        failed=$((failed + 1))
        printf 'FAILED   %s: %s\n' "$1" "$2"
    else
        skipped=$((skipped + 1))
        printf 'skipped  %s: %s\n' "$1" "$2"
    fi
}

has() { command -v "$1" >/dev/null 2>&1; }

vscode() {
    if ! has npm; then
        skip "VS Code" "npm is not installed"
        return
    fi
    if [ ! -d editors/vscode/node_modules ]; then
        run "VS Code: packages" npm ci --prefix editors/vscode --no-audit --no-fund
    fi
    run "VS Code: highlighting, manifest, client" npm test --prefix editors/vscode
    run "VS Code: package" editors/vscode/package.sh --out "$(mktemp -d)/sim.vsix"
}

vim_like() {
    local report
    report=$(mktemp)
    SIM_VIM_REPORT=$report "$@" -Nu NONE -n -i NONE -es -S editors/vim/test/run.vim </dev/null
    local code=$?
    head -40 "$report"
    rm -f "$report"
    return $code
}

vscode
for editor in vim nvim; do
    if has "$editor"; then
        run "$editor: syntax, indentation, quickfix" vim_like "$editor"
    else
        skip "$editor" "not installed"
    fi
done
simc=$PWD/target/debug/simc
if ! has nvim; then
    skip "nvim: language server" "not installed"
elif [ ! -x "$simc" ]; then
    skip "nvim: language server" "cargo build -p simc first"
else
    run "nvim: language server" env SIMC="$simc" timeout 60 nvim --headless -n -i NONE -u NONE \
        -c 'set rtp^=editors/vim' -c 'luafile editors/vim/test/lsp.lua' -c 'cquit 1'
fi
if has emacs; then
    run "Emacs: faces, indentation" emacs -Q --batch -l editors/emacs/test/run.el
else
    skip "Emacs" "not installed"
fi

# The generated parser is that of the grammar. Users need no tree-sitter command, and neither does CI.
parser_is_fresh() {
    local folder
    folder=$(mktemp -d)
    cp -r editors/tree-sitter-sim/. "$folder"
    (cd "$folder" && tree-sitter generate --abi 14 && tree-sitter test) || return 1
    diff -r "$folder/src" editors/tree-sitter-sim/src
}
if has tree-sitter; then
    run "tree-sitter: generated parser, corpus" parser_is_fresh
elif [ "${CI:-}" != true ]; then
    skip "tree-sitter" "the command is not installed (cargo install tree-sitter-cli@0.27.1)"
fi

printf '%s passed, %s failed, %s skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ]
