//! The test house; everything is in `tests/`.
