//! The examples of the crate, each of which checks what it prints.

#[path = "../examples/changed.rs"]
mod changed;
#[path = "../examples/edit.rs"]
mod edit;
#[path = "../examples/mistakes.rs"]
mod mistakes;
#[path = "../examples/text.rs"]
mod text;

#[test]
fn the_examples_run() {
    changed::main().expect("it runs");
    edit::main().expect("it runs");
    mistakes::main();
    text::main().expect("it runs");
}
