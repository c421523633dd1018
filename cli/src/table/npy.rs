//! NPY files, NumPy's form of one array
//! (<https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>): read in versions 1 to 3,
//! little-endian and C order.

use super::{
    Loaded, MemoryCheck,
    cell::{self, Kind},
    fits,
    rules::{Refusal, Rules},
};
use crate::{
    open::open,
    problem::{self, Problem},
};
use sim_compiler::{
    manifest::{Field, Scalar, describe},
    value::WORD_BYTES,
};
use std::{
    io::{self, BufReader, ErrorKind, Read},
    path::Path,
};

const MAGIC: &[u8] = b"\x93NUMPY";

/// A type of elements that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Element {
    kind: ElementKind,
    /// Bytes of one.
    size: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ElementKind {
    Float,
    Signed,
    Unsigned,
    Bool,
}

/// A number of an array, as wide as any.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Float(f64),
    Whole(i128),
}

impl Element {
    /// By NumPy's type string: the order of bytes, a letter, and their number.
    fn of(descr: &str) -> Option<Element> {
        let one_byte = descr.strip_prefix('|').filter(|rest| rest.ends_with('1'));
        let (kind, size) = match one_byte.or_else(|| descr.strip_prefix('<'))? {
            "f4" => (ElementKind::Float, 4),
            "f8" => (ElementKind::Float, 8),
            "i1" => (ElementKind::Signed, 1),
            "i2" => (ElementKind::Signed, 2),
            "i4" => (ElementKind::Signed, 4),
            "i8" => (ElementKind::Signed, 8),
            "u1" => (ElementKind::Unsigned, 1),
            "u2" => (ElementKind::Unsigned, 2),
            "u4" => (ElementKind::Unsigned, 4),
            "u8" => (ElementKind::Unsigned, 8),
            "b1" => (ElementKind::Bool, 1),
            _ => return None,
        };
        Some(Element { kind, size })
    }

    /// The number in `size` bytes.
    fn number(self, bytes: &[u8]) -> Number {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(wide);
        let unused = 64 - 8 * self.size;
        match self.kind {
            ElementKind::Float if self.size == 4 => {
                Number::Float(f32::from_bits(bits as u32).into())
            }
            ElementKind::Float => Number::Float(f64::from_bits(bits)),
            ElementKind::Signed => Number::Whole((((bits << unused) as i64) >> unused).into()),
            ElementKind::Unsigned => Number::Whole(bits.into()),
            ElementKind::Bool => Number::Whole((bits != 0).into()),
        }
    }

    /// The bytes are the field's words already.
    fn is_word_of(self, scalar: Scalar) -> bool {
        let kind = match scalar {
            Scalar::F32 => ElementKind::Float,
            Scalar::I32 => ElementKind::Signed,
            Scalar::U32 => ElementKind::Unsigned,
            Scalar::F64 | Scalar::Bool => return false,
        };
        (self.kind, self.size) == (kind, 4)
    }

    fn name(self) -> String {
        let bits = 8 * self.size;
        match self.kind {
            ElementKind::Float => format!("float{bits}"),
            ElementKind::Signed => format!("int{bits}"),
            ElementKind::Unsigned => format!("uint{bits}"),
            ElementKind::Bool => "bool".to_owned(),
        }
    }
}

/// What a file says about its array.
#[derive(Debug, PartialEq)]
struct Header {
    element: Element,
    shape: Vec<u64>,
}

/// Reads a table, or an input with one row per agent; how many agents there must be is not known here.
///
/// # Errors
/// What is wrong with the file, or that it does not have the declared shape.
pub(super) fn read(
    path: &Path,
    role: &str,
    field: &Field,
    rules: Rules,
) -> Result<Loaded, Problem> {
    let opened = open(path).map_err(|error| problem::unreadable(path, &error))?;
    let reader = BufReader::with_capacity(1 << 20, opened.file);
    read_array(path, (reader, opened.length), role, field, rules)
}

/// [`read`] from a file that is open, or a member of an archive, of this many bytes if that is known.
///
/// # Errors
/// The same.
pub(super) fn read_array(
    path: &Path,
    (mut reader, length): (impl Read, Option<u64>),
    role: &str,
    field: &Field,
    rules: Rules,
) -> Result<Loaded, Problem> {
    let header = read_header(path, &mut reader)?;
    let declared = if role == "input" {
        [vec![0], field.dims()].concat()
    } else {
        field.dims()
    };
    if !fits(&header.shape, &declared) {
        let shape: Vec<String> = header.shape.iter().map(u64::to_string).collect();
        let expected = if role == "input" {
            describe(field.scalar, &declared).replacen("rows", "agents", 1)
        } else {
            describe(field.scalar, &declared)
        };
        return Err(problem::table_shape(
            path,
            role,
            &field.name,
            &expected,
            &format!("[{}] of {}", shape.join(", "), header.element.name()),
            "all dimensions after the first may be flattened into one",
        ));
    }
    let count = header
        .shape
        .iter()
        .try_fold(1_u64, |all, &n| all.checked_mul(n));
    let bytes = count.and_then(|count| count.checked_mul(header.element.size as u64));
    let (Some(count), Some(bytes)) = (count, bytes) else {
        return Err(problem::npy_malformed(
            path,
            "its shape is beyond every memory",
        ));
    };
    if length.is_some_and(|length| length < bytes) {
        return Err(problem::npy_malformed(path, "it is cut short"));
    }
    let words = read_words(path, &mut reader, (&header, count), field, rules)?;
    let mut shape = declared;
    if shape.first() == Some(&0) {
        shape[0] = u32::try_from(header.shape[0]).unwrap_or(u32::MAX);
    }
    Ok(Loaded {
        name: field.name.clone(),
        scalar: field.scalar,
        words,
        shape,
    })
}

fn read_words(
    path: &Path,
    reader: &mut impl Read,
    (header, count): (&Header, u64),
    field: &Field,
    rules: Rules,
) -> Result<Vec<u32>, Problem> {
    let kind = Kind::of(field);
    let size = header.element.size;
    let plain = header.element.is_word_of(field.scalar) && field.variants.is_empty();
    let word_bytes = u64::from(field.scalar.words()) * WORD_BYTES;
    MemoryCheck::default().hold(path, count.saturating_mul(word_bytes))?;
    // A pipe may have less than its header says.
    let width = field.scalar.words() as usize;
    let mut words = Vec::with_capacity(width * count.min(1 << 24) as usize);
    let mut buffer = vec![0; size << 16];
    let mut read = 0;
    while read < count {
        let left = (count - read).min(1 << 16) as usize;
        let part = &mut buffer[..left * size];
        reader
            .read_exact(part)
            .map_err(|error| ended(path, &error))?;
        for bytes in part.chunks_exact(size) {
            let bits = if plain {
                Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]).into())
            } else {
                match header.element.number(bytes) {
                    Number::Float(value) => kind.float(value).map_err(Refusal::from),
                    Number::Whole(value) => rules.integer(kind, value),
                }
            };
            let bits = bits.map_err(|refusal| {
                let value = match header.element.number(bytes) {
                    Number::Float(value) => format!("{value:?}"),
                    Number::Whole(value) => value.to_string(),
                };
                let index = index_of(read, &header.shape);
                problem::npy_value(path, &index, &value, refusal.why, refusal.fix)
            })?;
            cell::push(field.scalar, bits, &mut words);
            read += 1;
        }
    }
    let mut more = [0];
    match reader.read(&mut more) {
        Ok(0) => Ok(words),
        Ok(_) => Err(problem::npy_malformed(path, "it goes on after its array")),
        Err(error) => Err(problem::unreadable(path, &error)),
    }
}

/// The index of the `at`th element: `[3, 0, 1]`.
fn index_of(mut at: u64, shape: &[u64]) -> String {
    let mut index = Vec::new();
    for &length in shape.iter().rev() {
        index.push((at % length.max(1)).to_string());
        at /= length.max(1);
    }
    index.reverse();
    format!("[{}]", index.join(", "))
}

fn ended(path: &Path, error: &io::Error) -> Problem {
    match error.kind() {
        ErrorKind::UnexpectedEof => problem::npy_malformed(path, "it is cut short"),
        _ => problem::unreadable(path, error),
    }
}

fn read_header(path: &Path, reader: &mut impl Read) -> Result<Header, Problem> {
    let mut exact = |length: usize| {
        let mut bytes = Vec::new();
        match reader.by_ref().take(length as u64).read_to_end(&mut bytes) {
            Ok(found) if found == length => Ok(bytes),
            Ok(_) => Err(problem::npy_malformed(path, "it is cut short")),
            Err(error) => Err(problem::unreadable(path, &error)),
        }
    };
    let start = exact(8)?;
    if !start.starts_with(MAGIC) {
        let why = if start.starts_with(b"PK") {
            "it is an archive: its name must end with `.npz`"
        } else {
            "it does not begin with NumPy's mark"
        };
        return Err(problem::npy_malformed(path, why));
    }
    let length = match start[6] {
        1 => {
            let bytes = exact(2)?;
            u16::from_le_bytes([bytes[0], bytes[1]]).into()
        }
        2 | 3 => {
            let bytes = exact(4)?;
            u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
        }
        version => {
            let why = format!("its version is {version}, and 1 to 3 are known");
            return Err(problem::npy_malformed(path, &why));
        }
    };
    if length > 1 << 20 {
        return Err(problem::npy_malformed(
            path,
            "its header is longer than 1 MiB",
        ));
    }
    let text = exact(length as usize)?;
    parse_header(path, &String::from_utf8_lossy(&text))
}

/// Takes the header apart, a Python dictionary such as
/// `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
fn parse_header(path: &Path, text: &str) -> Result<Header, Problem> {
    let missing = |key: &str| problem::npy_malformed(path, &format!("its header has no `{key}`"));
    let after = |key: &str| {
        let at = text
            .find(&format!("'{key}'"))
            .or_else(|| text.find(&format!("\"{key}\"")))?;
        let rest = text[at + key.len() + 2..].trim_start();
        rest.strip_prefix(':').map(str::trim_start)
    };
    let descr = after("descr").ok_or_else(|| missing("descr"))?;
    let quote = descr.chars().next().unwrap_or(' ');
    if quote != '\'' && quote != '"' {
        return Err(problem::npy_unsupported(
            path,
            "records of named fields",
            "give each field its own file",
        ));
    }
    let descr = descr[1..].split(quote).next().unwrap_or_default();
    let element = Element::of(descr).ok_or_else(|| {
        let help = if descr.starts_with('>') {
            "save it little-endian: `array.astype(array.dtype.newbyteorder('<'))`"
        } else {
            "save it as `array.astype('float32')`, or int32, uint32 or bool"
        };
        problem::npy_unsupported(path, &format!("elements of type `{descr}`"), help)
    })?;
    let fortran = after("fortran_order").ok_or_else(|| missing("fortran_order"))?;
    let shape = after("shape").and_then(|rest| rest.strip_prefix('('));
    let shape = shape.and_then(|rest| rest.split_once(')'));
    let shape = shape.ok_or_else(|| missing("shape"))?.0;
    let shape: Result<Vec<u64>, _> = shape
        .split(',')
        .map(str::trim)
        .filter(|length| !length.is_empty())
        .map(str::parse)
        .collect();
    let shape =
        shape.map_err(|_| problem::npy_malformed(path, "its shape is not a list of lengths"))?;
    if fortran.starts_with("True") && shape.len() > 1 {
        return Err(problem::npy_unsupported(
            path,
            "an array in Fortran order",
            "save it in C order: `numpy.ascontiguousarray(array)`",
        ));
    }
    Ok(Header { element, shape })
}
