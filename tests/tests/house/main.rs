//! The test house: specimens, snapshots, known answers, random models, and the rules of the house itself.

mod draws;
mod editors;
mod errors;
mod examples;
mod files;
mod highlighting;
mod language;
mod random_models;
mod run;
mod tidy;
mod validators;
