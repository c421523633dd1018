//! What the rewrites of a kernel need to know of a program: which values are uniform, when they are known,
//! their range, and which sums may be reordered.

pub(crate) mod accumulators;
pub(crate) mod bound;
pub(crate) mod free_sums;
pub(crate) mod intervals;
pub(crate) mod readiness;
pub(crate) mod terms;
