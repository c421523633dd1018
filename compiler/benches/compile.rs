//! How long a model takes from source to WGSL that naga has validated: every example, and generated models
//! of 100 to 10,000 lines, whose time per line must not grow.

#[path = "compile/generated.rs"]
mod generated;

use divan::{Bencher, counter::ItemsCount};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use std::{fmt, fs, path::Path};

const LINES: [usize; 5] = [100, 300, 1_000, 3_000, 10_000];

fn main() {
    divan::main();
}

/// A model of `lang-examples`.
struct Example {
    name: String,
    source: String,
}

impl fmt::Display for Example {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

fn examples() -> Vec<Example> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lang-examples");
    let mut examples: Vec<Example> = fs::read_dir(folder)
        .expect("the folder of the examples")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sim"))
        .map(|path| Example {
            name: path.file_stem().unwrap_or_default().display().to_string(),
            source: fs::read_to_string(&path).expect("a readable example"),
        })
        .collect();
    examples.sort_by(|a, b| a.name.cmp(&b.name));
    examples
}

fn compile(source: &str) -> String {
    sim_compiler::compile(source).expect("a legal model").wgsl()
}

fn validate(text: &str) -> naga::valid::ModuleInfo {
    let module = naga::front::wgsl::parse_str(text).expect("WGSL");
    Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .expect("valid WGSL")
}

/// Source to validated WGSL.
#[divan::bench(args = examples())]
fn example(bencher: Bencher, example: &Example) {
    bencher.bench_local(|| validate(&compile(&example.source)));
}

/// Source to WGSL.
#[divan::bench(args = examples())]
fn example_unvalidated(bencher: Bencher, example: &Example) {
    bencher.bench_local(|| compile(&example.source));
}

/// Source to validated WGSL; an item is a line.
#[divan::bench(args = LINES)]
fn generated(bencher: Bencher, lines: usize) {
    let source = generated::model(lines);
    bencher
        .counter(ItemsCount::new(source.lines().count()))
        .bench_local(|| validate(&compile(&source)));
}

/// Source to WGSL; an item is a line.
#[divan::bench(args = LINES)]
fn generated_unvalidated(bencher: Bencher, lines: usize) {
    let source = generated::model(lines);
    bencher
        .counter(ItemsCount::new(source.lines().count()))
        .bench_local(|| compile(&source));
}
