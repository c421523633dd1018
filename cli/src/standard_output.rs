//! Results on standard output.

use crate::{failure::Failure, problem};
use std::io::{self, BufWriter, StdoutLock, Write};

/// Writes results to standard output.
pub(crate) fn print(bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
    write(|out| out.write_all(bytes.as_ref()))
}

/// Writes results to standard output, piece by piece.
pub(crate) fn write(
    content: impl FnOnce(&mut BufWriter<StdoutLock<'_>>) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let written = content(&mut out).and_then(|()| out.flush());
    written.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
        io::ErrorKind::Interrupted => Failure::Interrupted,
        _ => problem::standard_output(&error).into(),
    })
}
