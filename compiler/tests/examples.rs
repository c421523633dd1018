//! The examples of the crate, each of which checks what it prints.

#[path = "../examples/check.rs"]
mod check;
#[path = "../examples/explanations.rs"]
mod explanations;
#[path = "../examples/kernel.rs"]
mod kernel;
#[path = "../examples/manifest.rs"]
mod manifest;
#[path = "../examples/names.rs"]
mod names;

#[test]
fn the_examples_run() {
    check::main();
    explanations::main();
    kernel::main().expect("it runs");
    manifest::main().expect("it runs");
    names::main();
}
