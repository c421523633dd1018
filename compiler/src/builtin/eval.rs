//! The reference meaning of operators.
