//! Derivatives of a run: of outputs with respect to params and inputs, by forward-mode differentiation of
//! the lowered program.
//!
//! Each float that depends on a *direction* (one float of a param or an input) has a *tangent* beside it, a
//! variable of the same type, which every assignment advances by the chain rule. Draws of random bits are
//! constants; their arguments are not, so that `normal(mu, sd)` has the derivative `mu' + sd' * z`. Control
//! flow is that of the run: comparisons, `floor` and conversions to integers have the derivative 0, and
//! `min`, `max` and `abs` that of the side that was taken. The result is a program like any other, with more
//! states and outputs: every backend and every pass serves it.

mod forward;
mod reverse;
mod rules;
mod whole;
mod world_output;

use crate::{
    Artifact,
    ir::{Program, VarId},
    manifest::Field,
    passes, size,
    span::Span,
};
pub use reverse::{By, Reverse, agents_depend, reverse};
use std::fmt;
pub use world_output::with_output_of_agents;

/// Most directions of one program: each doubles the states of an agent.
pub const MOST_DIRECTIONS: usize = 64;

/// A model with outputs that are derivatives.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// The model: with the outputs of the one that was differentiated, and the derivatives after them.
    pub artifact: Artifact,
    /// The derivatives: per output that was asked for, one for each direction.
    pub derivatives: Vec<Derivative>,
}

/// An output that is a derivative of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derivative {
    /// The output that is differentiated.
    pub of: String,
    /// The direction: a float of a param or an input, such as `sigma`, `weights[3]` or `start.x`.
    pub wrt: String,
    /// The output's name: `d(of)/d(wrt)`. Its type and shape are those of `of`.
    pub output: String,
}

/// Why a derivative does not exist, or is not computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What is wrong, and what to do.
    pub message: String,
    /// Where in the model, if at a place.
    pub span: Option<Span>,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refused {}

fn refused(message: impl Into<String>) -> Refused {
    Refused {
        message: message.into(),
        span: None,
    }
}

/// One float that derivatives are taken with respect to.
#[derive(Clone, Debug)]
struct Direction {
    name: String,
    var: VarId,
    /// Of an array: which element.
    element: Option<u32>,
    /// Of a vector: which component.
    component: usize,
}

/// The model with the derivatives of outputs with respect to floats of params and inputs.
///
/// `of` are names of outputs, `wrt` of params or inputs: all floats of each.
///
/// # Errors
/// An unknown name, one without floats, too many directions, a discrete draw with an argument that depends on
/// a direction, an output that cannot depend on one, or a derivative that is not supported.
pub fn forward(artifact: &Artifact, of: &[&str], wrt: &[&str]) -> Result<Gradient, Refused> {
    let lowered = &artifact.lowered;
    let outputs = of.iter().map(|name| output(artifact, name));
    let outputs: Vec<(Field, VarId)> = outputs.collect::<Result<_, _>>()?;
    let mut directions = Vec::new();
    for name in wrt {
        directions.extend(floats(artifact, name)?);
    }
    if directions.len() > MOST_DIRECTIONS {
        return Err(refused(format!(
            "{} derivatives at once are too many: {MOST_DIRECTIONS} are the most; name fewer",
            directions.len()
        )));
    }
    let wanted: Vec<VarId> = outputs.iter().map(|(_, var)| *var).collect();
    let (mut program, tangents) = forward::differentiate(lowered, &directions, &wanted)?;
    let mut artifact = artifact.clone();
    let mut derivatives = Vec::new();
    for ((field, _), tangents) in outputs.iter().zip(tangents) {
        for (direction, var) in directions.iter().zip(tangents) {
            let name = format!("d({})/d({})", field.name, direction.name);
            let word = program[var].word;
            program[var].name.clone_from(&name);
            artifact.manifest.outputs.push(Field {
                doc: format!("Derivative of `{}` by `{}`.", field.name, direction.name),
                name: name.clone(),
                word,
                ..field.clone()
            });
            derivatives.push(Derivative {
                of: field.name.clone(),
                wrt: direction.name.clone(),
                output: name,
            });
        }
    }
    let manifest = &mut artifact.manifest;
    manifest.state_words = program.row_words(&program.states);
    manifest.output_words = program.row_words(&program.outputs);
    if let Some(world) = &mut manifest.world {
        world.rows.state_words = program.row_words(&program.world_states);
    }
    crate::ir::verify::debug_verify(&program, "gradient");
    artifact.lowered = program.clone();
    if artifact.options.optimise {
        passes::optimise(&mut program);
    }
    size::check_program(&program).map_err(|found| refused(found[0].message.clone()))?;
    artifact.program = program;
    Ok(Gradient {
        artifact,
        derivatives,
    })
}

/// An output of agents that holds floats.
fn output(artifact: &Artifact, name: &str) -> Result<(Field, VarId), Refused> {
    let fields = &artifact.manifest.outputs;
    let Some(field) = fields.iter().find(|field| field.name == name) else {
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        return Err(refused(format!(
            "there is no output `{name}`; the outputs are {}",
            names.join(", ")
        )));
    };
    let program = &artifact.lowered;
    let var = of_word(program, &program.outputs, field.word);
    if !program[var].ty.is_float() {
        return Err(refused(format!(
            "output `{name}` is not a float, so it has no derivative"
        )));
    }
    Ok((field.clone(), var))
}

/// The names of the directions that names of params and inputs stand for: of an array `weights[0]`,
/// `weights[1]` and so on, of a vector `start.x`. Each of these is a name for [`forward`], too.
///
/// # Errors
/// An unknown name, or one without floats.
pub fn directions(artifact: &Artifact, wrt: &[&str]) -> Result<Vec<String>, Refused> {
    let mut found = Vec::new();
    for name in wrt {
        found.extend((floats(artifact, name)?.into_iter()).map(|direction| direction.name));
    }
    Ok(found)
}

/// The floats of a param or an input, or the one float of that name.
fn floats(artifact: &Artifact, name: &str) -> Result<Vec<Direction>, Refused> {
    let mut found = Vec::new();
    for (field, var) in variables(artifact, name)? {
        let own = floats_of(&field, var, artifact.lowered[var].ty.components());
        let whole = is_whole(&field, name);
        found.extend((own.into_iter()).filter(|direction| whole || direction.name == name));
    }
    match found.is_empty() {
        true => Err(refused(format!("there is no param or input `{name}`"))),
        false => Ok(found),
    }
}

/// Does the name stand for the whole field, or for a struct that it is in?
fn is_whole(field: &Field, name: &str) -> bool {
    let rest = field.name.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The variables of a param or an input that hold floats, or of the one with that element or component.
fn variables(artifact: &Artifact, name: &str) -> Result<Vec<(Field, VarId)>, Refused> {
    let (manifest, program) = (&artifact.manifest, &artifact.lowered);
    let params = (manifest.params.iter()).map(|param| (&param.field, &program.params));
    let inputs = (manifest.inputs.iter()).map(|input| (&input.field, &program.inputs));
    let mut all = params.chain(inputs);
    let mut found = Vec::new();
    for (field, vars) in all.clone() {
        let whole = is_whole(field, name);
        let rest = name.strip_prefix(field.name.as_str());
        let part = rest.is_some_and(|rest| rest.starts_with(['[', '.']));
        let var = of_word(program, vars, field.word);
        if (whole || part) && program[var].ty.is_float() {
            found.push((field.clone(), var));
        }
    }
    if !found.is_empty() {
        return Ok(found);
    }
    if all.any(|(field, _)| field.name == name) {
        return Err(refused(format!(
            "`{name}` is not a float, so there is no derivative with respect to it"
        )));
    }
    Err(refused(format!("there is no param or input `{name}`")))
}

fn floats_of(field: &Field, var: VarId, components: usize) -> Vec<Direction> {
    let of_array = !field.shape.is_empty();
    let name = |(k, name): (usize, String)| Direction {
        name,
        var,
        element: of_array.then_some((k / components) as u32),
        component: k % components,
    };
    field
        .spellings()
        .into_iter()
        .enumerate()
        .map(name)
        .collect()
}

/// The variable of a row that begins at a word.
fn of_word(program: &Program, vars: &[VarId], word: u32) -> VarId {
    let found = vars.iter().find(|var| program[**var].word == word);
    *found.expect("every field of the manifest has a variable")
}
