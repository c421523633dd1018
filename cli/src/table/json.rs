//! JSON results: an object from names to nested arrays, agents or worlds outermost. JSON has no NaN and no
//! infinity; they are the strings `"NaN"`, `"inf"` and `"-inf"`.

use super::cell::Kind;
use sim_runtime::Column;
use std::{
    io::{self, Write},
    sync::atomic::{AtomicBool, Ordering},
};

/// Writes all outputs of all agents or worlds, one agent a line.
///
/// # Errors
/// What the operating system says, and `Interrupted` if `cancel` is set.
pub(crate) fn write<'c>(
    columns: impl Iterator<Item = &'c Column>,
    out: &mut impl Write,
    cancel: &AtomicBool,
) -> io::Result<()> {
    out.write_all(b"{")?;
    let mut before = "\n";
    for column in columns {
        write!(out, "{before}\"{}\": [", column.field.name)?;
        before = ",\n";
        let kind = Kind::of(&column.field);
        let width = column.field.values() as usize;
        let mut words = vec![0; width];
        for agent in 0..column.shape[0] {
            if agent % 4096 == 0 && cancel.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            for (at, word) in words.iter_mut().enumerate() {
                *word = column.values.word(agent * width + at);
            }
            out.write_all(if agent == 0 { b"\n" } else { b",\n" })?;
            nested(&column.shape[1..], &words, kind, out)?;
        }
        out.write_all(b"\n]")?;
    }
    out.write_all(b"\n}\n")
}

fn nested(shape: &[usize], words: &[u32], kind: Kind<'_>, out: &mut impl Write) -> io::Result<()> {
    let [length, inner @ ..] = shape else {
        return words.first().map_or(Ok(()), |&word| value(word, kind, out));
    };
    out.write_all(b"[")?;
    let width = words.len() / (*length).max(1);
    for (at, words) in words.chunks(width.max(1)).enumerate() {
        if at > 0 {
            out.write_all(b", ")?;
        }
        nested(inner, words, kind, out)?;
    }
    out.write_all(b"]")
}

fn value(word: u32, kind: Kind<'_>, out: &mut impl Write) -> io::Result<()> {
    let quoted = match kind {
        Kind::F32 => !f32::from_bits(word).is_finite(),
        Kind::Enum(variants) => (word as usize) < variants.len(),
        Kind::I32 | Kind::U32 | Kind::Bool => false,
    };
    if quoted {
        out.write_all(b"\"")?;
        kind.write(word, out)?;
        return out.write_all(b"\"");
    }
    kind.write(word, out)
}
