//! JSON results: an object from names to nested arrays, agents or worlds outermost. Series are in objects of
//! their own, `observe`, `world observe` and `record`: of each the steps and the samples. JSON has no NaN and
//! no infinity; they are the strings `"NaN"`, `"inf"` and `"-inf"`.

use super::blocks;
use crate::table::cell::Kind;
use sim_compiler::manifest::SeriesOf;
use sim_runtime::{Column, Run};
use std::{
    io::{self, Write},
    sync::atomic::AtomicBool,
};

/// Writes all outputs of all agents and worlds, one agent a line, and all series, one sample a line.
///
/// # Errors
/// What the operating system says, and `Interrupted` if `cancel` is set.
pub(super) fn write(run: &Run, out: &mut impl Write, cancel: &AtomicBool) -> io::Result<()> {
    out.write_all(b"{")?;
    let mut before = "\n";
    for column in run.outputs().iter().chain(run.world_outputs()) {
        write!(out, "{before}\"{}\": ", column.field.name)?;
        before = ",\n";
        array(column, out, cancel)?;
    }
    let kinds = [
        ("observe", SeriesOf::Population),
        ("world observe", SeriesOf::Worlds),
        ("record", SeriesOf::Agents),
    ];
    for (name, of) in kinds {
        let mut series = run
            .series()
            .iter()
            .filter(|series| series.of == of)
            .peekable();
        if series.peek().is_none() {
            continue;
        }
        write!(out, "{before}\"{name}\": {{")?;
        before = ",\n";
        let mut inner = "\n";
        for series in series {
            let steps = &series.steps;
            write!(
                out,
                "{inner}\"{}\": {{\"steps\": {steps:?}, \"values\": ",
                series.name()
            )?;
            inner = ",\n";
            array(&series.column, out, cancel)?;
            out.write_all(b"}")?;
        }
        out.write_all(b"\n}")?;
    }
    out.write_all(b"\n}\n")
}

/// The values of a column, a row a line.
fn array(column: &Column, out: &mut impl Write, cancel: &AtomicBool) -> io::Result<()> {
    out.write_all(b"[")?;
    let kind = Kind::of(&column.field);
    let width = column.shape[1..].iter().product();
    blocks::write([column.shape[0], width], out, cancel, |row, text| {
        let bits = |at| column.values.bits(row * width + at);
        let words: Vec<u64> = (0..width).map(bits).collect();
        text.extend_from_slice(if row == 0 { b"\n" } else { b",\n" });
        nested(&column.shape[1..], &words, kind, text)
    })?;
    out.write_all(b"\n]")
}

fn nested(shape: &[usize], words: &[u64], kind: Kind<'_>, out: &mut impl Write) -> io::Result<()> {
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

fn value(word: u64, kind: Kind<'_>, out: &mut impl Write) -> io::Result<()> {
    let quoted = match kind {
        Kind::F32 => !f32::from_bits(word as u32).is_finite(),
        Kind::F64 => !f64::from_bits(word).is_finite(),
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
