//! The `simc` command.

fn main() {}
