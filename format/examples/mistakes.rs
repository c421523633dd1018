//! A text with syntax errors is not formatted; the error has the compiler's complaints.
//!
//! `cargo run --example mistakes`

use sim_format::{Error, format};

const BROKEN: &str = "agents 2\nstate x =\noutput x\n";

/// Prints the complaints with their lines.
pub fn main() {
    match format(BROKEN) {
        Err(Error::Syntax(found)) => {
            for mistake in &found {
                let (line, _) = mistake.span().position(BROKEN);
                println!("line {line}: [{}] {}", mistake.code, mistake.message);
            }
            assert!(!found.is_empty());
        }
        Err(Error::Bug(what)) => panic!("a bug of the formatter: {what}"),
        Ok(text) => panic!("a state has a value: {text}"),
    }
}
