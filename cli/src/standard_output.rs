//! Results on standard output.

use crate::{failure::Failure, problem};
use std::io::{self, Write};

/// Writes results to standard output.
pub(crate) fn print(bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let written = out.write_all(bytes.as_ref()).and_then(|()| out.flush());
    written.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
        _ => problem::standard_output(&error).into(),
    })
}
