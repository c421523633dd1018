//! The examples of the crate, each of which checks what it prints.

#[path = "../examples/complete.rs"]
mod complete;
#[path = "../examples/hover.rs"]
mod hover;
#[path = "../examples/rename.rs"]
mod rename;
#[path = "../examples/server.rs"]
mod server;

#[test]
fn the_examples_run() {
    complete::main();
    hover::main();
    rename::main().expect("it runs");
    server::main().expect("it runs");
}
