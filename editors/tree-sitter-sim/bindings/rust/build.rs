//! Compiles the generated parser and the scanner of block comments.

fn main() {
    let files = ["src/parser.c", "src/scanner.c"];
    for file in files {
        println!("cargo:rerun-if-changed={file}");
    }
    cc::Build::new()
        .std("c11")
        .include("src")
        .warnings(false)
        .files(files)
        .compile("tree-sitter-sim");
}
