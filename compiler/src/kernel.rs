//! From an optimised program and a device to what a kernel's text says: how a program is laid out on a GPU,
//! apart from what it means.
//!
//! ```text
//! device, population, tuning ─ choose ─► Schedule ─┐
//! optimised program ───────────────────────────────┴─ tailor ─► Tailored ─ emit ─► WGSL
//! ```
//!
//! * `schedule`: the data: a schedule, what a caller may set of it, decisions in words.
//! * `profile`: what was measured on devices.
//! * `choose`: the rules by which a run gets its schedule.
//! * `tailor`: a program under a schedule; everything that `emit` needs, computed once.
//! * `lanes`: one agent split over several invocations, as `lane_layout` says.
//! * `rewrites`: the table of rewrites for a device; `relax` has those that move roundings, `order`
//!   those that keep every bit.
//! * `fences`: arithmetic fences against drivers' compilers.
//! * `step_table`: what all agents share in a step, computed once for all of them.
//! * `time_loop`: how many steps an iteration of the time loop has.
//! * `analysis`, `usage`: what these ask of a program; `limits`: what WGSL allows in one.
//!
//! Invariant: under every schedule, states and outputs are the same to the bit but for the order in which
//! sums over lanes are taken and for what `relax` rounds otherwise. Nothing here writes text, and `emit`
//! runs no pass.

pub(crate) mod analysis;
pub(crate) mod choose;
pub(crate) mod fences;
pub(crate) mod lane_layout;
pub(crate) mod lanes;
pub mod limits;
pub(crate) mod order;
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
