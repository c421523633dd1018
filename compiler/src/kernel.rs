//! From an optimised program and a device to what the kernel's text is written from: how a program is laid
//! out on a GPU, apart from what it means.
//!
//! ```text
//! device, population, tuning --+
//! optimised program -----------+- choose -> Choice - tailor -> Tailored - emit -> WGSL
//! ```
//!
//! * `schedule`: the data: a schedule, what a caller may set of it, decisions in words.
//! * `profile`: what was measured on devices.
//! * `choose`: the rules by which a run gets its schedule, each with its reason in words.
//! * `tailor`: carries out a choice; the result is everything that `emit` needs.
//! * `lanes`: splits one agent over several invocations, as `lane_layout` describes.
//! * `rewrites`: the table of rewrites for a device; `relax` has those that change roundings, `order` those
//!   that keep every bit.
//! * `fences`: arithmetic fences against drivers' compilers.
//! * `step_table`: what is uniform in a step, computed once for all agents.
//! * `worlds`: how the agents of worlds lie in a workgroup, and what they share there.
//! * `coarsening`: several agents per invocation (thread coarsening).
//! * `per_step`: the other way to run worlds, a few dispatches a step.
//! * `time_loop`: how many copies of the step an iteration of the time loop has.
//! * `analysis`, `usage`: what these need to know of a program; `limits`: what WGSL allows in one.
//!
//! Invariant: states and outputs are the same to the bit under every schedule, with two exceptions: the order
//! of reductions over lanes, and what `relax` rounds differently. Nothing here writes text, and `emit` runs
//! no pass.

pub(crate) mod analysis;
pub(crate) mod choose;
pub(crate) mod coarsening;
pub(crate) mod fences;
pub(crate) mod lane_layout;
pub(crate) mod lanes;
pub mod limits;
pub(crate) mod order;
pub(crate) mod per_step;
pub mod profile;
pub(crate) mod relax;
pub(crate) mod rewrites;
pub mod schedule;
pub(crate) mod step_table;
pub(crate) mod tailor;
#[cfg(test)]
mod tests;
pub(crate) mod time_loop;
pub(crate) mod usage;
pub(crate) mod worlds;
