//! The tests: specimens, snapshots, known answers, random models, and the rules of the code base.

mod activations;
mod benchmarks;
mod corpus;
mod crates;
mod devices;
mod draw_statistics;
mod draws;
mod draws_edge;
mod drift;
#[cfg(feature = "texts")]
mod editors;
#[cfg(feature = "texts")]
mod errors;
mod examples;
#[cfg(feature = "texts")]
mod exhaustive;
mod files;
mod format;
#[cfg(feature = "texts")]
mod highlighting;
#[cfg(feature = "texts")]
mod knobs;
#[cfg(feature = "texts")]
mod language;
mod launches;
mod modules;
#[cfg(feature = "texts")]
mod operations;
mod random_models;
mod random_parts;
mod run;
mod schedules;
mod storage;
mod tidy;
#[cfg(feature = "texts")]
mod validators;
mod vector;
#[cfg(feature = "texts")]
mod warnings;
mod worlds;
