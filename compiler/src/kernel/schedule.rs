//! Schedules: the choices that a kernel's text depends on beside the program, what a device and a caller
//! contribute to them, and the kernel that results. [`KNOBS`] is the one list of what a caller may set.
//!
//! A schedule never changes what a model computes, with two exceptions: the order of float sums (`lanes`,
//! `relax`) and some roundings (`relax`; `occupancy` decides where). Draws are the same bits under each.
//! [`Schedule::default`] asks nothing of the host beyond the manifest; a runtime that knows its device and
//! population takes a better one.

mod stage;
mod target;

use super::profile::{ARRAY_BYTES, DeviceClass};
use crate::manifest::{ConstantTables, Spill, StepTable};
pub use stage::{Chosen, Grid, Obstacle, Scratch, Stage, When};
use std::{fmt, str::FromStr};
pub use target::Target;

/// The choices of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// The class of the device.
    pub class: DeviceClass,
    /// Lanes per agent: a power of two, 1 to [`MOST_LANES`].
    pub lanes: u32,
    /// Lanes that exchange values by shuffles: the smallest subgroup of the device, or 1. Where an agent has
    /// more lanes, they exchange through workgroup memory.
    pub subgroup: u32,
    /// Copies of the time loop's body in the text, at least 1; 0 chooses by the body's size.
    pub unroll_steps: u32,
    /// Computes what depends on the step but not on the agent once, into a step table, which an entry point
    /// `prepare` fills that the host dispatches before `main`.
    pub step_table: bool,
    /// The device's compiler keeps float sums in the order of the text. So lanes that add the same two values
    /// get the same bits without further care, and few sums need an arithmetic fence.
    pub keeps_order: bool,
    /// The device's compiler does not assume that there are no infinities, as WGSL allows: 1 over infinity is
    /// 0.
    pub has_infinities: bool,
    /// How much of the device the agents keep busy.
    pub occupancy: Occupancy,
    /// Reserves workgroup memory that is never used, a workgroup as much as the profile of the device's class
    /// says. Drivers limit registers for occupancy, at the price of latency. Where few workgroups run anyway,
    /// latency is the limit, and memory that lets few workgroups fit makes drivers spend registers.
    pub reserve: bool,
    /// Applies the rewrites for devices: constant factors move, sums of floats are reordered for fused
    /// multiply-adds, and pairs of divisions share a reciprocal if occupancy is full and special functions
    /// are the bound. Only with [`crate::Math::Fast`] and the optimiser.
    pub relax: bool,
    /// Bytes of arrays that an invocation keeps in its own memory, at most and as far as WGSL guarantees
    /// them; others are in storage.
    pub array_bytes: u32,
    /// Agents of a world, of a model whose agents know of worlds; 0 for as many as the model says.
    pub members: u32,
    /// Worlds of a workgroup; 0 chooses by their size.
    pub worlds: u32,
    /// What a dispatch computes of worlds.
    pub world_dispatch: WorldDispatch,
    /// Agents of an invocation, neighbours: 1, 2 or 4.
    pub agents_per_invocation: u32,
    /// A dispatch computes several runs, which differ by their params, seeds and inputs: see
    /// [`Kernel::points`].
    pub points: bool,
}

/// What a dispatch computes of worlds whose agents read one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WorldDispatch {
    /// Many steps: a workgroup runs whole worlds.
    #[default]
    Fused,
    /// A part of one step, of all worlds.
    PerStep,
}

/// How much of a device a run keeps busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Occupancy {
    /// A step waits for its own values: latency counts.
    Low,
    /// All of the device: throughput counts.
    Full,
}

impl Default for Schedule {
    fn default() -> Self {
        Schedule {
            class: DeviceClass::default(),
            lanes: 1,
            subgroup: 32,
            unroll_steps: 0,
            step_table: false,
            keeps_order: false,
            has_infinities: false,
            occupancy: Occupancy::Full,
            reserve: false,
            relax: false,
            array_bytes: ARRAY_BYTES,
            members: 0,
            worlds: 0,
            world_dispatch: WorldDispatch::default(),
            agents_per_invocation: 1,
            points: false,
        }
    }
}

impl Schedule {
    /// What a device provides and a caller asks for, before the heuristics of `choose`.
    pub(crate) fn of(target: &Target, tuning: &Tuning) -> Schedule {
        Schedule {
            class: target.class,
            subgroup: target.subgroup,
            unroll_steps: tuning.unroll_steps.unwrap_or(0),
            keeps_order: target.keeps_order,
            has_infinities: target.has_infinities,
            relax: tuning.relax.unwrap_or(target.busy.is_some()),
            points: target.points,
            array_bytes: tuning.array_bytes.unwrap_or(target.profile().array_bytes),
            ..Schedule::default()
        }
    }
}

/// Most lanes of an agent: all of a workgroup. WebGPU guarantees at least 256 invocations there.
pub const MOST_LANES: u32 = 128;

/// Most agents of an invocation.
pub const MOST_PER_INVOCATION: u32 = 4;

/// Most worlds of a workgroup: every device has this many invocations.
pub(crate) const MOST_WORLDS: u32 = 256;

/// Most steps of an iteration of the time loop.
pub(crate) const MOST_COPIES: u32 = 64;

/// A kernel's text and what a host must know to dispatch it, beside the manifest.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// WGSL with the entry point `main`, or those of `stages`; and `prepare` if there is a step table.
    pub wgsl: String,
    /// The entry points that a run dispatches, in order.
    pub stages: Vec<Stage>,
    /// What they keep in a buffer that no host reads, if they need one.
    pub scratch: Option<Scratch>,
    /// The schedule, without what the model cannot use.
    pub schedule: Schedule,
    /// Why a step could not be several dispatches, if agents know of worlds and that is so.
    pub obstacle: Option<Obstacle>,
    /// Lanes per agent: a workgroup runs `workgroup_size / lanes` agents.
    pub lanes: u32,
    /// Invocations of a workgroup.
    pub workgroup_size: u32,
    /// Agents of a workgroup.
    pub workgroup_agents: u32,
    /// Bytes of workgroup memory that grow with worlds.
    pub workgroup_bytes: u64,
    /// The step table, which `prepare` fills; none if there is no such entry point.
    pub step_table: Option<StepTable>,
    /// The binding of the uniform blocks of the runs of a dispatch, the points, if it has several: see
    /// [`crate::manifest`].
    pub points: Option<u32>,
    /// What arrays of an agent take of storage.
    pub spill: Option<Spill>,
    /// Arrays of constants in storage.
    pub constants: Option<ConstantTables>,
    /// What was decided for it, and why.
    pub decisions: Vec<Decision>,
}

/// A decision about a kernel, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What was decided.
    pub what: String,
    /// The reason.
    pub why: String,
}

impl Decision {
    pub(crate) fn new(what: impl Into<String>, why: impl Into<String>) -> Decision {
        Decision {
            what: what.into(),
            why: why.into(),
        }
    }
}

/// Declares [`Tuning`] and [`KNOBS`], a row per knob. The sentence above a row documents the field, and is
/// the knob's help on the command line.
macro_rules! knobs {
    ($(
        $(#[doc = $line:literal])+
        $field:ident: $type:ty {
            name: $name:literal, scope: $scope:ident, values: $values:expr, tried: $tried:expr $(,)?
        }
    )+) => {
        /// What a caller sets where rules would decide otherwise; `None` leaves it to them. It changes the
        /// time of a run. Only `lanes`, `kernel_agents`, `shuffles`, `relax` and, with that, `occupancy`
        /// change results, apart from the last bits where a driver contracts `a * b + c` in one kernel and
        /// not in another.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Tuning {
            $($(#[doc = $line])+ pub $field: Option<$type>,)+
        }

        impl Tuning {
            /// All is left to the rules: the default.
            pub const AUTO: Tuning = Tuning { $($field: None,)+ };
        }

        /// The knobs, in the order in which `simc bench --tune` tries them.
        pub static KNOBS: &[Knob] = &[$(Knob {
            name: $name,
            doc: concat!($($line),+),
            scope: Scope::$scope,
            values: $values,
            tried: $tried,
            get: |tuning| tuning.$field.map(Value::code),
            set: |tuning, code| tuning.$field = Some(Value::of(code)),
        },)+];
    };
}

knobs! {
    /// Lanes (invocations) that share an agent, rounded up to a power of two, as far as the model allows;
    /// sums of floats are then taken in another order.
    lanes: u32 {
        name: "lanes", scope: Kernel, values: Values::Numbers(1, MOST_LANES),
        tried: &["1", "2", "4", "8", "16", "32", "64", "128"],
    }
    /// Whether the lanes of an agent exchange values by subgroup shuffles where the device has them, instead
    /// of through workgroup memory as those of several subgroups do.
    shuffles: bool { name: "shuffles", scope: Kernel, values: Values::BOOL, tried: &[] }
    /// Agents that the kernel is chosen for, instead of those of the run: runs that share a dispatch keep as
    /// much of the device busy as all their agents together. Runs for which it is the same number have the
    /// same bits.
    kernel_agents: u32 {
        name: "kernel-agents", scope: Kernel, values: Values::Numbers(1, u32::MAX), tried: &[],
    }
    /// Whether floats may be rounded otherwise where that is faster: sums in another order, constants moved,
    /// reciprocals shared by divisions; never with `--math precise`.
    relax: bool { name: "relax", scope: Kernel, values: Values::BOOL, tried: &["false", "true"] }
    /// The occupancy of the device that the kernel is optimised for.
    occupancy: Occupancy {
        name: "occupancy", scope: Kernel, values: Occupancy::VALUES, tried: &["low", "full"],
    }
    /// Whether workgroup memory is reserved, which lowers occupancy so that the driver's compiler uses more
    /// registers: faster for few agents, slower for many.
    reserve: bool { name: "reserve", scope: Kernel, values: Values::BOOL, tried: &["false", "true"] }
    /// Whether what all agents share in a step is computed once, into a step table, before they run.
    step_table: bool {
        name: "step-table", scope: Kernel, values: Values::BOOL, tried: &["false", "true"],
    }
    /// Bytes of an agent's arrays, and of the model's arrays of constants, that an invocation keeps in its
    /// own memory, at most: others are in storage.
    array_bytes: u32 {
        name: "array-bytes", scope: Kernel, values: Values::Numbers(0, ARRAY_BYTES), tried: &["0"],
    }
    /// Agents that an invocation runs, rounded down to a power of two, as far as the model allows: what they
    /// have in common is loaded once for all of them, and each needs registers of its own.
    agents_per_invocation: u32 {
        name: "agents-per-invocation", scope: Kernel,
        values: Values::Numbers(1, MOST_PER_INVOCATION), tried: &["1", "2", "4"],
    }
    /// Worlds that a workgroup runs, as far as they fit. The other knobs of a kernel's text have no effect on
    /// models whose agents know of worlds, but for lanes where a step is several dispatches, and for agents
    /// per invocation where it is one.
    worlds_per_workgroup: u32 {
        name: "worlds-per-workgroup", scope: Kernel, values: Values::Numbers(1, MOST_WORLDS),
        tried: &["1", "2", "4", "8", "16", "32", "64"],
    }
    /// What a dispatch computes of models whose agents know of worlds: worlds larger than a workgroup cannot
    /// be fused.
    world_dispatch: WorldDispatch {
        name: "world-dispatch", scope: Dispatch, values: WorldDispatch::VALUES,
        tried: &["fused", "per-step"],
    }
    /// Steps that an iteration of the time loop computes.
    unroll_steps: u32 {
        name: "unroll-steps", scope: Kernel, values: Values::Numbers(1, MOST_COPIES),
        tried: &["1", "2", "4", "5", "8", "16"],
    }
    /// Most steps of a dispatch.
    steps_per_dispatch: u32 {
        name: "steps-per-dispatch", scope: Dispatch, values: Values::Numbers(1, u32::MAX), tried: &[],
    }
    /// Most agents of a chunk, which one dispatch runs.
    max_agents_per_chunk: u32 {
        name: "max-agents-per-chunk", scope: Dispatch, values: Values::Numbers(1, u32::MAX), tried: &[],
    }
    /// Whether the shader compiler adds its own checks of indices, divisors and loops, which kernels make
    /// themselves: slow, and there to tell a fault of this compiler from one of a driver.
    checks: bool { name: "checks", scope: Dispatch, values: Values::BOOL, tried: &[] }
    /// Whether the CPU backend compiles the model to machine code, which takes some milliseconds: where it is
    /// not set, for runs that are worth it. It does on processors with AVX2 or AVX-512 whose system allows
    /// it, and else runs the vector machine alone; the results have the same bits, but for those of NaNs.
    jit: bool { name: "jit", scope: Dispatch, values: Values::BOOL, tried: &[] }
    /// Whether statistics of outputs that are not kept are computed without holding the outputs: by a GPU
    /// itself, on the CPU in several passes; else by their size.
    reduce: bool { name: "reduce", scope: Statistics, values: Values::BOOL, tried: &[] }
}

/// A row of [`KNOBS`]: a field of [`Tuning`] as a text.
pub struct Knob {
    /// The field's name, with hyphens: on the command line `--name value`.
    pub name: &'static str,
    doc: &'static str,
    /// What it changes.
    pub scope: Scope,
    /// What it can be set to.
    pub values: Values,
    /// The values that a search for the fastest tries.
    pub tried: &'static [&'static str],
    get: fn(&Tuning) -> Option<u32>,
    set: fn(&mut Tuning, u32),
}

/// What a knob changes. `simc build` takes the knobs of the first scope, `simc bench` those of the first two,
/// `simc run` all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The kernel's text.
    Kernel,
    /// How a kernel is compiled and dispatched.
    Dispatch,
    /// How statistics are computed where outputs are not kept.
    Statistics,
}

/// What a knob can be set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// A whole number, from the first to the second.
    Numbers(u32, u32),
    /// One of these words, each with what it means where it does not say so itself.
    Words(&'static [(&'static str, &'static str)]),
}

impl Knob {
    /// What it does, in one sentence without its full stop.
    pub fn help(&self) -> &'static str {
        self.doc.trim().trim_end_matches('.')
    }

    /// What it is set to; none if it is left to the rules.
    pub fn get(&self, tuning: &Tuning) -> Option<String> {
        (self.get)(tuning).map(|code| self.values.text(code))
    }

    /// Sets it.
    ///
    /// # Errors
    /// If it has no such value, in words.
    pub fn set(&self, tuning: &mut Tuning, text: &str) -> Result<(), String> {
        match self.values.code(text) {
            Some(code) => {
                (self.set)(tuning, code);
                Ok(())
            }
            None => Err(format!(
                "`{}` cannot be `{text}`: it is {}",
                self.name, self.values
            )),
        }
    }
}

impl Values {
    /// Whether or not.
    pub const BOOL: Values = Values::Words(&[("false", ""), ("true", "")]);

    /// Whether this is one of them.
    pub fn has(&self, text: &str) -> bool {
        self.code(text).is_some()
    }

    /// A number itself, and the place of a word.
    fn code(&self, text: &str) -> Option<u32> {
        match *self {
            Values::Numbers(least, most) => {
                let number = text.parse().ok();
                number.filter(|number| (least..=most).contains(number))
            }
            Values::Words(words) => {
                let place = words.iter().position(|(word, _)| *word == text)?;
                u32::try_from(place).ok()
            }
        }
    }

    fn text(&self, code: u32) -> String {
        match *self {
            Values::Numbers(..) => code.to_string(),
            Values::Words(words) => words[code as usize].0.to_owned(),
        }
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Values::Numbers(least, u32::MAX) => write!(f, "a number of at least {least}"),
            Values::Numbers(least, most) => write!(f, "a number from {least} to {most}"),
            Values::Words(words) => {
                let words: Vec<String> =
                    words.iter().map(|(word, _)| format!("`{word}`")).collect();
                f.write_str(&words.join(" or "))
            }
        }
    }
}

/// The type of a field of [`Tuning`]; see [`Values::code`].
trait Value {
    fn of(code: u32) -> Self;
    fn code(self) -> u32;
}

impl Value for u32 {
    fn of(code: u32) -> u32 {
        code
    }

    fn code(self) -> u32 {
        self
    }
}

impl Value for bool {
    fn of(code: u32) -> bool {
        code > 0
    }

    fn code(self) -> u32 {
        self.into()
    }
}

impl Occupancy {
    const VALUES: Values = Values::Words(&[
        ("low", "Execution units wait for values: latency counts"),
        ("full", "Execution units are busy: throughput counts"),
    ]);
}

impl Value for Occupancy {
    fn of(code: u32) -> Occupancy {
        match code {
            0 => Occupancy::Low,
            _ => Occupancy::Full,
        }
    }

    fn code(self) -> u32 {
        match self {
            Occupancy::Low => 0,
            Occupancy::Full => 1,
        }
    }
}

impl WorldDispatch {
    const VALUES: Values = Values::Words(&[
        ("fused", "Many steps: a workgroup runs whole worlds"),
        ("per-step", "A part of one step, of all worlds"),
    ]);
}

impl Value for WorldDispatch {
    fn of(code: u32) -> WorldDispatch {
        match code {
            0 => WorldDispatch::Fused,
            _ => WorldDispatch::PerStep,
        }
    }

    fn code(self) -> u32 {
        match self {
            WorldDispatch::Fused => 0,
            WorldDispatch::PerStep => 1,
        }
    }
}

impl Tuning {
    /// The knobs that are set, and to what.
    pub fn settings(&self) -> impl Iterator<Item = (&'static Knob, String)> {
        KNOBS
            .iter()
            .filter_map(|knob| Some((knob, knob.get(self)?)))
    }
}

/// `lanes=4 unroll-steps=2`.
impl fmt::Display for Tuning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = self
            .settings()
            .map(|(knob, value)| format!("{}={value}", knob.name));
        f.write_str(&settings.collect::<Vec<_>>().join(" "))
    }
}

/// What `Display` writes, with spaces or commas between settings.
impl FromStr for Tuning {
    type Err = String;

    fn from_str(text: &str) -> Result<Tuning, String> {
        let mut tuning = Tuning::AUTO;
        for setting in text.split([' ', ',']).filter(|setting| !setting.is_empty()) {
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            let Some(knob) = KNOBS.iter().find(|knob| knob.name == name) else {
                let names: Vec<&str> = KNOBS.iter().map(|knob| knob.name).collect();
                return Err(format!(
                    "there is no knob `{name}`, but {}",
                    names.join(", ")
                ));
            };
            knob.set(&mut tuning, value)?;
        }
        Ok(tuning)
    }
}

#[cfg(test)]
mod tests;
