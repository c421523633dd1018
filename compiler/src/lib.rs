//! The compiler of the Sim language: pure functions from source text to an artifact or diagnostics. No
//! I/O, no GPU; builds for wasm.
//!
//! The pipeline, one module a stage:
//!
//! ```text
//! text ─ syntax ─► ast ─ check ─► hir ─ lower ─► ir ─ passes ─► ir ─ emit ─► Artifact
//! ```
//!
//! [`compile`] is that line as code. `syntax` and `check` make all diagnostics but the last ones, which
//! depend on the optimised program: whether it fits a GPU.

#![cfg_attr(
    all(sim_web, target_feature = "relaxed-simd"),
    feature(core_intrinsics),
    allow(internal_features)
)]

pub mod artifact;
pub mod builtin;
mod check;
pub mod diagnostic;
pub mod emit;
mod foreign;
pub mod gradient;
mod hir;
pub mod ir;
pub mod kernel;
pub mod launch_checks;
mod lint;
mod lower;
pub mod manifest;
pub mod names;
mod options;
pub mod packed;
pub mod passes;
mod prelude;
pub mod random;
mod size;
pub mod span;
pub mod syntax;
pub mod testing;
pub mod value;
pub mod words;

pub use artifact::Artifact;
pub use diagnostic::Diagnostic;
pub use options::{Math, Options};
pub use value::RealType;

use diagnostic::Reported;

/// Compiles a model.
///
/// # Errors
/// Every complaint about the source, in its order.
pub fn compile(source: &str) -> Result<Artifact, Vec<Diagnostic>> {
    compile_with(source, Options::default())
}

/// Compiles a model with options.
///
/// # Errors
/// Every complaint about the source, in its order.
pub fn compile_with(source: &str, options: Options) -> Result<Artifact, Vec<Diagnostic>> {
    let (
        lower::Lowered {
            launch_checks,
            program: lowered,
            manifest,
            tests,
        },
        program,
    ) = optimised(source, options)?;
    Ok(Artifact {
        manifest,
        lowered,
        program,
        launch_checks,
        own_kernel: None,
        kernels: Vec::new(),
        tests,
        options,
    })
}

/// Only the complaints about a model; empty if it compiles.
pub fn check(source: &str) -> Vec<Diagnostic> {
    optimised(source, Options::default())
        .err()
        .unwrap_or_default()
}

/// The warnings about a model, in their order, of very many the first; none if it has mistakes. Nothing else
/// computes them.
pub fn warnings(source: &str) -> Vec<Diagnostic> {
    let parsed = syntax::parse(source);
    if !parsed.diagnostics.is_empty() {
        return Vec::new();
    }
    let checked = check::noted(&parsed.model);
    checked.map_or_else(Vec::new, |(model, notes)| {
        lint::lint(source, &parsed.model, &model, notes)
    })
}

/// What there is to say about a model: its mistakes, or, if it has none, its warnings.
pub fn complaints(source: &str) -> Vec<Diagnostic> {
    let mistakes = check(source);
    match mistakes.is_empty() {
        true => warnings(source),
        false => mistakes,
    }
}

/// The program before and after the passes, and its manifest; what follows has no complaints.
fn optimised(
    source: &str,
    options: Options,
) -> Result<(lower::Lowered, ir::Program), Vec<Diagnostic>> {
    let mut model = checked(source, options.real)?;
    if !options.checks {
        model.drop_assertions();
    }
    let mut lowered = lower::lower(&model, options.checks)?;
    lowered.program.prelude = source.len() as u32;
    ir::verify::debug_verify(&lowered.program, "lower");
    let mut program = lowered.program.clone();
    if options.optimise {
        passes::optimise(&mut program);
    }
    size::check_program(&program)?;
    let manifest = &mut lowered.manifest;
    manifest.generator = options.generator.name().to_string();
    manifest.inner_iterations = ir::cost::iterations::inner_iterations(&program);
    Ok((lowered, program))
}

/// What the front end knows of a source file, whole or broken. Its complaints are those of [`check`], but for
/// those about size.
pub fn survey(source: &str) -> names::Survey {
    let parsed = syntax::parse(source);
    let (found, notes) = check::survey(&parsed.model, Reported::by(&parsed.diagnostics));
    let names = names::collect(&parsed.model, notes, source.len());
    names::Survey {
        diagnostics: diagnostic::joined(source, parsed.diagnostics, found),
        tree: parsed.model,
        names,
    }
}

fn checked(source: &str, real: value::RealType) -> Result<hir::Model, Vec<Diagnostic>> {
    let parsed = syntax::parse(source);
    let prelude = prelude::text(source).map(|text| syntax::parse(&text).model);
    let prelude = prelude.unwrap_or_default();
    let unread = Reported::by(&parsed.diagnostics);
    let model = check::check(&parsed.model, &prelude, unread, real)
        .map_err(|found| diagnostic::joined(source, parsed.diagnostics, found))?;
    let mut too_large = size::check(&model);
    if too_large.is_empty() {
        return Ok(model);
    }
    too_large.sort_by_key(Diagnostic::span);
    Err(too_large)
}

/// A stage of the pipeline, for `simc build --emit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The tokens of the text.
    Tokens,
    /// The syntax tree.
    Ast,
    /// The checked model.
    Hir,
    /// The optimised IR.
    Ir,
}

/// What a stage makes of a model, as text.
///
/// # Errors
/// Every complaint of that stage and those before it.
pub fn emit_stage(source: &str, stage: Stage) -> Result<String, Vec<Diagnostic>> {
    match stage {
        Stage::Tokens => Ok(syntax::tokens(source)
            .iter()
            .map(|(token, span)| format!("{:>6}..{:<6} {token}\n", span.start, span.end))
            .collect()),
        Stage::Ast => {
            let parsed = syntax::parse(source);
            if parsed.diagnostics.is_empty() {
                Ok(syntax::print::ast(&parsed.model))
            } else {
                Err(parsed.diagnostics)
            }
        }
        Stage::Hir => checked(source, value::RealType::F32).map(|model| hir::print::print(&model)),
        Stage::Ir => compile(source).map(|artifact| ir::print::print(&artifact.program)),
    }
}

/// The README's code.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests {
    /// `__poisson` is as near to what was written as `poisson`, and sorts before it.
    #[test]
    fn names_of_the_prelude_are_out_of_reach() {
        let near = "state x = b1poisson(3.0)\noutput x\n";
        let found = crate::check(near);
        assert_eq!(found[0].help.as_deref(), Some("did you mean `poisson`?"));
        assert_eq!(found, crate::survey(near).diagnostics);
        let called = "state x = __poisson(3.0)\noutput x\n";
        assert_eq!(crate::check(called)[0].slug, "unknown_function");
        let own = "fn __poisson(x: i32) -> i32 { return x }\n\
                   state x = __poisson(2) + poisson(3.0)\noutput x\n";
        assert_eq!(crate::check(own), []);
    }
}
