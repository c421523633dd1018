//! Rows as text, which takes longer than to write it: by all threads, some blocks of rows at a time.

use rayon::prelude::*;
use std::{
    io::{self, Write},
    sync::atomic::{AtomicBool, Ordering},
};

/// Values of a block: about a megabyte of text.
const VALUES: usize = 1 << 16;
/// Blocks that are in memory at a time, at most; fewer where a row has more values than that.
const BLOCKS: usize = 64;

/// Writes so many rows of `width` values in their order; `row` appends the text of one.
///
/// # Errors
/// Those of `row`, what the operating system says, and `Interrupted` if `cancel` is set.
pub(super) fn write(
    [rows, width]: [usize; 2],
    out: &mut impl Write,
    cancel: &AtomicBool,
    row: impl Fn(usize, &mut Vec<u8>) -> io::Result<()> + Sync,
) -> io::Result<()> {
    let each = (VALUES / width.max(1)).max(1);
    let blocks = rows.div_ceil(each);
    let together = (BLOCKS * VALUES / (each * width.max(1))).clamp(1, BLOCKS);
    let text = |block: usize| -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        for number in block * each..rows.min((block + 1) * each) {
            if cancel.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            row(number, &mut text)?;
        }
        Ok(text)
    };
    for first in (0..blocks).step_by(together) {
        let now = first..blocks.min(first + together);
        let texts: Vec<io::Result<Vec<u8>>> = now.into_par_iter().map(text).collect();
        for text in texts {
            out.write_all(&text?)?;
        }
    }
    Ok(())
}
