//! An artifact as bytes, for a runtime that has no front end: what a built page carries.
//!
//! ```text
//! "SIM\0" · version of the compiler · layout · checksum of the rest · manifest · program · …
//! ```
//!
//! Integers take as few bytes as they need (LEB128), floats their bits, lists and texts their length first.
//! Only the compiler of the same version reads them: `layout` is a hash of this file, whose lists of fields
//! are the format. The program before the passes is not among the bytes, as only what makes kernels needs
//! it; [`crate::emit::prepare`] makes them before.

use crate::{
    artifact::Artifact,
    builtin::{BuiltinId, Draw},
    ir::{
        BinaryOp, DrawSite, Expr, ExprId, Function, FunctionId, InputDefault, LaneOp, Launch, Len,
        Owner, Phase, Program, Sample, Stmt, Type, UnaryOp, Value, Var, VarId, VarKind,
        checks::{Check, CheckKind, Checks, Seen, When},
    },
    kernel::{
        profile::DeviceClass,
        schedule::{
            self, Chosen, Decision, Grid, Kernel, Obstacle, Occupancy, Schedule, Scratch, Stage,
            WorldDispatch,
        },
    },
    launch_checks::{self, CheckedDraw, LaunchChecks},
    manifest::{
        ConstantTables, Counter, Data, Field, Input, Manifest, Number, Param, RealType,
        Requirement, Rows, Sampling, Scalar, Series, SeriesFold, SeriesOf, Source, Spill,
        StepTable, World,
    },
    options::{Math, Options},
    random::Generator,
    span::Span,
};
use std::collections::HashMap;

/// What the bytes begin with.
const MAGIC: &[u8] = b"SIM\0";
/// The compiler that wrote them.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Another one for each form of the bytes.
const LAYOUT: u32 = checksum(include_bytes!("packed.rs"));

/// Why bytes are no artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// Another version of the compiler wrote them: the one with this name.
    OtherVersion(String),
    /// They are no artifact, or were cut off or changed.
    Damaged,
}

impl Artifact {
    /// The artifact as bytes, without the model's tests and its program before the passes.
    pub fn pack(&self) -> Vec<u8> {
        let mut body = Vec::new();
        self.manifest.put(&mut body);
        self.program.put(&mut body);
        self.launch_checks.put(&mut body);
        self.own_kernel.put(&mut body);
        self.kernels.put(&mut body);
        self.options.put(&mut body);
        let mut bytes = MAGIC.to_vec();
        VERSION.to_owned().put(&mut bytes);
        bytes.extend(LAYOUT.to_le_bytes());
        bytes.extend(checksum(&body).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    /// The artifact that [`Artifact::pack`] made bytes of. Its optimised program is the lowered one, too.
    ///
    /// # Errors
    /// If another version wrote them, or they were changed.
    pub fn unpack(bytes: &[u8]) -> Result<Artifact, Unreadable> {
        let rest = &mut bytes.strip_prefix(MAGIC).ok_or(Unreadable::Damaged)?;
        let version = String::take(rest).ok_or(Unreadable::Damaged)?;
        let mut number = || {
            rest.split_off(..4)
                .and_then(|word| word.try_into().ok())
                .map(u32::from_le_bytes)
        };
        let (layout, sum) = (number(), number());
        if version != VERSION || layout.is_some_and(|layout| layout != LAYOUT) {
            return Err(Unreadable::OtherVersion(version));
        }
        if sum != Some(checksum(rest)) {
            return Err(Unreadable::Damaged);
        }
        Artifact::body(rest).ok_or(Unreadable::Damaged)
    }

    fn body(rest: &mut &[u8]) -> Option<Artifact> {
        let (manifest, program) = (Manifest::take(rest)?, Program::take(rest)?);
        Some(Artifact {
            manifest,
            lowered: program.clone(),
            program,
            launch_checks: Packed::take(rest)?,
            own_kernel: Packed::take(rest)?,
            kernels: Packed::take(rest)?,
            tests: Vec::new(),
            options: Packed::take(rest)?,
        })
    }
}

/// Bytes in base64, as JavaScript's `atob` reads it.
pub fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = three
            .iter()
            .fold(0, |bits, &byte| bits << 8 | u32::from(byte))
            << (8 * (3 - three.len()));
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place)) as usize & 63];
            text.push(if place <= three.len() {
                letter.into()
            } else {
                '='
            });
        }
    }
    text
}

/// The hash FNV-1a.
const fn checksum(bytes: &[u8]) -> u32 {
    let (mut hash, mut at) = (0x811c_9dc5_u32, 0);
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    hash
}

/// What has a form as bytes.
trait Packed: Sized {
    /// Appends it.
    fn put(&self, out: &mut Vec<u8>);

    /// Takes it off the front; `None` if it is not there.
    fn take(rest: &mut &[u8]) -> Option<Self>;
}

impl Packed for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        let mut left = *self;
        while left >= 0x80 {
            out.push(left as u8 | 0x80);
            left >>= 7;
        }
        out.push(left as u8);
    }

    fn take(rest: &mut &[u8]) -> Option<u64> {
        let mut number = 0;
        for place in 0..10 {
            let byte = *rest.split_off_first()?;
            number |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

/// Types that are written as another one.
macro_rules! packed_as {
    ($($type:ty as $form:ty: |$value:ident| $to:expr, |$written:ident| $from:expr;)+) => {$(
        impl Packed for $type {
            fn put(&self, out: &mut Vec<u8>) {
                let $value = self;
                let written: $form = $to;
                written.put(out);
            }

            fn take(rest: &mut &[u8]) -> Option<$type> {
                let $written = <$form>::take(rest)?;
                $from
            }
        }
    )+};
}

packed_as! {
    u8 as u64: |it| u64::from(*it), |it| it.try_into().ok();
    u32 as u64: |it| u64::from(*it), |it| it.try_into().ok();
    usize as u64: |it| *it as u64, |it| it.try_into().ok();
    // The sign last, so that small numbers are short.
    i64 as u64: |it| ((it << 1) ^ (it >> 63)) as u64, |it| Some((it >> 1) as i64 ^ -((it & 1) as i64));
    i32 as i64: |it| i64::from(*it), |it| it.try_into().ok();
    bool as u64: |it| u64::from(*it), |it| Some(it != 0);
    // Floats mostly have zeros at their end.
    f32 as u32: |it| it.to_bits().swap_bytes(), |it| Some(f32::from_bits(it.swap_bytes()));
    f64 as u64: |it| it.to_bits().swap_bytes(), |it| Some(f64::from_bits(it.swap_bytes()));
    Number as f64: |it| it.0, |it| Some(Number(it));
    String as Vec<u8>: |it| it.as_bytes().to_vec(), |it| String::from_utf8(it).ok();
    VarId as u32: |it| it.0, |it| Some(VarId(it));
    ExprId as u32: |it| it.0, |it| Some(ExprId(it));
    FunctionId as u32: |it| it.0, |it| Some(FunctionId(it));
    // By name and number of parameters: two rows may share a name.
    BuiltinId as (String, usize): |it| (it.row().name.to_owned(), it.row().params.len()), |it| {
        BuiltinId::of_name(&it.0).find(|id| id.row().params.len() == it.1)
    };
}

impl<T: Packed> Packed for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        self.iter().for_each(|item| item.put(out));
    }

    fn take(rest: &mut &[u8]) -> Option<Vec<T>> {
        let count = usize::take(rest)?;
        (0..count).map(|_| T::take(rest)).collect()
    }
}

impl<T: Packed> Packed for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        self.iter().for_each(|item| item.put(out));
    }

    fn take(rest: &mut &[u8]) -> Option<Option<T>> {
        match bool::take(rest)? {
            true => T::take(rest).map(Some),
            false => Some(None),
        }
    }
}

impl<T: Packed, const N: usize> Packed for [T; N] {
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|item| item.put(out));
    }

    fn take(rest: &mut &[u8]) -> Option<[T; N]> {
        let items: Option<Vec<T>> = (0..N).map(|_| T::take(rest)).collect();
        items?.try_into().ok()
    }
}

impl<A: Packed, B: Packed> Packed for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take(rest: &mut &[u8]) -> Option<(A, B)> {
        Some((A::take(rest)?, B::take(rest)?))
    }
}

/// In the order of the numbers, so that equal programs have equal bytes.
impl Packed for HashMap<ExprId, f64> {
    fn put(&self, out: &mut Vec<u8>) {
        let mut all: Vec<(ExprId, f64)> = self.iter().map(|(&id, &text)| (id, text)).collect();
        all.sort_by_key(|&(id, _)| id);
        all.put(out);
    }

    fn take(rest: &mut &[u8]) -> Option<HashMap<ExprId, f64>> {
        Some(Vec::take(rest)?.into_iter().collect())
    }
}

/// Structs, by all of their fields.
macro_rules! structs {
    ($($name:ident { $($field:ident),+ $(,)? })+) => {$(
        impl Packed for $name {
            fn put(&self, out: &mut Vec<u8>) {
                let $name { $($field),+ } = self;
                $($field.put(out);)+
            }

            fn take(rest: &mut &[u8]) -> Option<$name> {
                $(let $field = Packed::take(rest)?;)+
                Some($name { $($field),+ })
            }
        }
    )+};
}

/// Enums, by all of their variants: each with its number, the names of its fields, and the pattern.
macro_rules! enums {
    ($($name:ty { $($number:literal: ($($field:ident),*) $variant:pat => $make:expr,)+ })+) => {$(
        impl Packed for $name {
            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $($variant => {
                        out.push($number);
                        $($field.put(out);)*
                    })+
                }
            }

            fn take(rest: &mut &[u8]) -> Option<$name> {
                match *rest.split_off_first()? {
                    $($number => {
                        $(let $field = Packed::take(rest)?;)*
                        Some($make)
                    })+
                    _ => None,
                }
            }
        }
    )+};
}

structs! {
    Span { start, end }
    Program {
        vars, exprs, spans, constants, functions, params, data, inputs, states, outputs, world_inputs,
        world_states, world_outputs, init, prologue, phases, ends, samples, finish, input_defaults, checks,
        draws, texts, prelude, real,
    }
    DrawSite { draw, args, span }
    Phase { owner, body }
    Sample { every, records, world_records, combined, body }
    InputDefault { input, random_step, owner, body }
    Var { name, doc, ty, len, kind, word, span }
    Function { name, doc, params, result, body }
    Checks { sites, words, samples }
    Check { kind, span, owner, when, values }
    Seen { span, name, ty }
    LaunchChecks { program, draws }
    CheckedDraw { draw, args, phase, params, span }
    Options { optimise, generator, math, checks, real }
    Manifest {
        version, doc, generator, agents, steps, has_step, params, data, inputs, states, outputs, world,
        samplings, series, requirements, uniform_words, input_words, state_words, output_words,
        workgroup_size, inner_iterations, step_table, spill, constants, real,
    }
    World { members, binding, rows }
    Rows { inputs, states, outputs, input_words, state_words, output_words }
    Field { name, doc, scalar, shape, components, variants, word }
    Param { field, default, range }
    Data { field, binding, rows_word }
    Input { field, source }
    Requirement { data, counts, offset, span }
    StepTable { rows_per_step, binding, words, workgroup_size }
    Spill { binding, words }
    ConstantTables { binding, words }
    Sampling { every, words, world_words }
    Series { field, of, sampling, fold }
    Chosen { schedule, kernel }
    Schedule {
        class, lanes, subgroup, unroll_steps, step_table, keeps_order, has_infinities, occupancy, reserve,
        relax, array_bytes, members, worlds, world_dispatch, agents_per_invocation, points,
    }
    Kernel {
        wgsl, stages, scratch, schedule, obstacle, lanes, workgroup_size, workgroup_agents, workgroup_bytes,
        step_table, points, spill, constants, decisions,
    }
    Stage { name, when, grid }
    Scratch { binding, per_agent, per_world }
    Decision { what, why }
}

/// Enums whose variants hold nothing.
macro_rules! plain_enums {
    ($($name:ident { $($variant:ident),+ $(,)? })+) => {$(
        impl Packed for $name {
            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $($name::$variant => {})+
                }
                out.push(*self as u8);
            }

            fn take(rest: &mut &[u8]) -> Option<$name> {
                let all = [$($name::$variant),+];
                all.get(usize::from(*rest.split_off_first()?)).copied()
            }
        }
    )+};
}

plain_enums! {
    Owner { Agent, World }
    LaneOp { Sum, Product, Least, Most, Any, All }
    Type { F32, I32, U32, Bool, Vec2, Vec3, Vec4 }
    UnaryOp { Negate, Not, Complement, Fence, Keep }
    BinaryOp {
        Add, Subtract, Multiply, Divide, Remainder, Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual,
        And, Or, BitAnd, BitOr, BitXor, ShiftLeft, ShiftRight,
    }
    VarKind {
        Constant, Param, Data, Input, State, Output, WorldInput, WorldState, WorldOutput, Record, WorldRecord,
        Let, Local, Index, Argument,
    }
    Draw {
        Random, Uniform, Normal, Exponential, Bernoulli, RandInt, Poisson, Categorical, NormalBetween,
        LogNormal, Gamma, Beta, ChiSquared, StudentT, Cauchy, Laplace, Binomial, Geometric,
    }
    Generator { KeyedHash, Philox4x32 }
    Math { Fast, Precise }
    Scalar { F32, F64, I32, U32, Bool }
    RealType { F32, F64 }
    Source { Required, Default, Drawn }
    Counter { Constant, Step, Agent }
    SeriesOf { Agents, Worlds, Population }
    DeviceClass { LargeGpu, SmallGpu, Software }
    Occupancy { Low, Full }
    WorldDispatch { Fused, PerStep }
    Obstacle { FoldInLoop, LargeFold, Checks }
}

enums! {
    Value<f64> {
        0: (x) Value::F32(x) => Value::F32(x),
        1: (x) Value::I32(x) => Value::I32(x),
        2: (x) Value::U32(x) => Value::U32(x),
        3: (x) Value::Bool(x) => Value::Bool(x),
        4: (x) Value::Vec2(x) => Value::Vec2(x),
        5: (x) Value::Vec3(x) => Value::Vec3(x),
        6: (x) Value::Vec4(x) => Value::Vec4(x),
    }
    Value {
        0: (x) Value::F32(x) => Value::F32(x),
        1: (x) Value::I32(x) => Value::I32(x),
        2: (x) Value::U32(x) => Value::U32(x),
        3: (x) Value::Bool(x) => Value::Bool(x),
        4: (x) Value::Vec2(x) => Value::Vec2(x),
        5: (x) Value::Vec3(x) => Value::Vec3(x),
        6: (x) Value::Vec4(x) => Value::Vec4(x),
    }
    Len {
        0: () Len::One => Len::One,
        1: (count) Len::Fixed(count) => Len::Fixed(count),
        2: (stride) Len::Open { stride } => Len::Open { stride },
    }
    Stmt {
        0: (var, value) Stmt::Let { var, value } => Stmt::Let { var, value },
        1: (var, value) Stmt::Var { var, value } => Stmt::Var { var, value },
        2: (var, value) Stmt::Assign { var, value } => Stmt::Assign { var, value },
        3: (var, index, value) Stmt::AssignElement { var, index, value } => {
            Stmt::AssignElement { var, index, value }
        },
        4: (condition, accept, reject) Stmt::If { condition, accept, reject } => {
            Stmt::If { condition, accept, reject }
        },
        5: (index, start, end, body) Stmt::For { index, start, end, body } => {
            Stmt::For { index, start, end, body }
        },
        6: () Stmt::Break => Stmt::Break,
        7: () Stmt::Continue => Stmt::Continue,
        8: () Stmt::Stop => Stmt::Stop,
        9: (value) Stmt::Return(value) => Stmt::Return(value),
    }
    Expr {
        0: (value) Expr::Literal(value) => Expr::Literal(value),
        1: (launch) Expr::Launch(launch) => Expr::Launch(launch),
        2: (var) Expr::Rows(var) => Expr::Rows(var),
        3: (var) Expr::Read(var) => Expr::Read(var),
        4: (array, index) Expr::Element { array, index } => Expr::Element { array, index },
        5: (vector, components) Expr::Swizzle { vector, components } => {
            Expr::Swizzle { vector, components }
        },
        6: (parts) Expr::Compose(parts) => Expr::Compose(parts),
        7: (ty, value) Expr::Splat { ty, value } => Expr::Splat { ty, value },
        8: (op, operand) Expr::Unary(op, operand) => Expr::Unary(op, operand),
        9: (op, left, right) Expr::Binary(op, left, right) => Expr::Binary(op, left, right),
        10: (condition, accept, reject) Expr::Select { condition, accept, reject } => {
            Expr::Select { condition, accept, reject }
        },
        11: (to, value) Expr::Convert { to, value } => Expr::Convert { to, value },
        12: (to, value) Expr::Bitcast { to, value } => Expr::Bitcast { to, value },
        13: (id, args) Expr::Builtin(id, args) => Expr::Builtin(id, args),
        14: (id, args) Expr::Call(id, args) => Expr::Call(id, args),
        15: (owner, number, step) Expr::RandomWord { owner, number, step } => {
            Expr::RandomWord { owner, number, step }
        },
        16: (var, index, member) Expr::Other { var, index, member } => Expr::Other { var, index, member },
        17: (op, lanes, value) Expr::AcrossLanes { op, lanes, value } => {
            Expr::AcrossLanes { op, lanes, value }
        },
        18: (op, value) Expr::AcrossWorld { op, value } => Expr::AcrossWorld { op, value },
        19: (bits) Expr::Double(bits) => Expr::Double(bits),
        20: (lanes, value, lane) Expr::Shuffle { lanes, value, lane } => {
            Expr::Shuffle { lanes, value, lane }
        },
    }
    Launch {
        0: () Launch::Agent => Launch::Agent,
        1: () Launch::Agents => Launch::Agents,
        2: () Launch::Steps => Launch::Steps,
        3: () Launch::Step => Launch::Step,
        4: () Launch::Member => Launch::Member,
        5: () Launch::Members => Launch::Members,
        6: () Launch::World => Launch::World,
        7: (lanes) Launch::Lane { lanes } => Launch::Lane { lanes },
    }
    CheckKind {
        0: (message) CheckKind::Assertion { message } => CheckKind::Assertion { message },
        1: () CheckKind::Index => CheckKind::Index,
        2: () CheckKind::Division => CheckKind::Division,
        3: () CheckKind::NotFinite => CheckKind::NotFinite,
        4: () CheckKind::Limit => CheckKind::Limit,
    }
    When {
        0: () When::Launch => When::Launch,
        1: () When::Beginning => When::Beginning,
        2: () When::Step => When::Step,
        3: (every) When::Sample { every } => When::Sample { every },
        4: () When::End => When::End,
    }
    Grid {
        0: (agents) Grid::Agents(agents) => Grid::Agents(agents),
        1: (each) Grid::Worlds(each) => Grid::Worlds(each),
    }
    schedule::When {
        0: () schedule::When::Range => schedule::When::Range,
        1: () schedule::When::Birth => schedule::When::Birth,
        2: () schedule::When::Step => schedule::When::Step,
        3: () schedule::When::End => schedule::When::End,
        4: (every) schedule::When::Sample { every } => schedule::When::Sample { every },
    }
    launch_checks::Phase {
        0: () launch_checks::Phase::Always => launch_checks::Phase::Always,
        1: () launch_checks::Phase::Step => launch_checks::Phase::Step,
        2: (number) launch_checks::Phase::Input(number) => launch_checks::Phase::Input(number),
    }
    SeriesFold {
        0: () SeriesFold::Sum => SeriesFold::Sum,
        1: () SeriesFold::Mean => SeriesFold::Mean,
        2: () SeriesFold::Min => SeriesFold::Min,
        3: () SeriesFold::Max => SeriesFold::Max,
        4: () SeriesFold::Count => SeriesFold::Count,
        5: () SeriesFold::Any => SeriesFold::Any,
        6: () SeriesFold::All => SeriesFold::All,
        7: () SeriesFold::Var => SeriesFold::Var,
        8: () SeriesFold::Sd => SeriesFold::Sd,
        9: (at) SeriesFold::Quantiles(at) => SeriesFold::Quantiles(at),
        10: (low, high, bins) SeriesFold::Histogram { low, high, bins } => {
            SeriesFold::Histogram { low, high, bins }
        },
    }
}

#[cfg(test)]
mod tests;
