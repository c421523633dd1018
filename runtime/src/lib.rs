//! Runs compiled Sim models.
