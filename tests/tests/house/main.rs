//! The test house: specimens, snapshots, known answers, random models, and the rules of the house itself.

mod draws;
mod errors;
mod examples;
mod files;
mod format;
mod language;
mod random_models;
mod run;
mod tidy;
mod validators;
