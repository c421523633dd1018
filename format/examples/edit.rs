//! The one change of a text that formats it, as an editor applies it: what stands around it stays.
//!
//! `cargo run --example edit`

use sim_format::{Edit, Error, edit};

const LOOSE: &str = "agents 2\n\n\n\nstate x=1.0\noutput x\n";

/// Prints the change, and makes it.
pub fn main() -> Result<(), Error> {
    let Some(Edit { span, text: new }) = edit(LOOSE)? else {
        panic!("the text is not in canonical style");
    };
    println!("bytes {:?} become {new:?}", span.range());
    let mut text = LOOSE.to_owned();
    text.replace_range(span.range(), &new);
    assert_eq!(text, sim_format::format(LOOSE)?);
    Ok(())
}
