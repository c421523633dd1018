//! The examples of the crate, each of which checks what it prints.

#[path = "../examples/broken.rs"]
mod broken;
#[path = "../examples/highlight.rs"]
mod highlight;
#[path = "../examples/parse.rs"]
mod parse;
#[path = "../examples/tags.rs"]
mod tags;

#[test]
fn the_examples_run() {
    broken::main().expect("it runs");
    highlight::main().expect("it runs");
    parse::main().expect("it runs");
    tags::main().expect("it runs");
}
