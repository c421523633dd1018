//! The invariants of the IR.
