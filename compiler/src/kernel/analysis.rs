//! What the rewrites of a kernel ask of a program: which values are the same for all agents, when they are
//! known, how large they may be, and which sums may be taken in another order.

pub(crate) mod accumulators;
pub(crate) mod bound;
pub(crate) mod free_sums;
pub(crate) mod intervals;
pub(crate) mod readiness;
pub(crate) mod terms;
