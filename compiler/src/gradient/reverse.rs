//! Reverse mode: derivatives of an output by any number of floats, at a cost that does not depend on their
//! number.
//!
//! A run is `finish(step(… step(init)))`. Backwards, it takes the *adjoints* of the states, the derivatives
//! of the wanted value by them, from the end of each step to its beginning; on the way what each step adds to
//! the derivatives by params and inputs is summed up. For this, [`reverse`] makes three programs of a model:
//!
//! * [`Reverse::forward`]: the model. Its `finish` also gives the adjoints of the last states.
//! * [`Reverse::step`]: one step backwards. Its states are those of the model before the step, the adjoints
//!   of those behind it, which become the adjoints of those before it, and sums for the derivatives.
//! * [`Reverse::birth`]: `init` backwards.
//!
//! Whoever runs them gives the adjoint of the output of each agent, the *seed*, as an input: with 1 for all
//! of them, the derivatives of the sum over agents result, and those of each agent's output by its own
//! inputs. The step is run at the number of the step, so that it draws the same numbers. Which states are
//! kept is up to the caller: `Simulation::reverse` in the runtime keeps those of every √steps-th step, and
//! those of the steps between two of these. So all backends, passes and schedules serve these programs as any
//! other.
//!
//! How a step is turned around: [`straight`] writes it without jumps and calls, [`record`] names all values
//! and reverses statements, [`loops`] reverses loops, [`adjoint`] has the rules of operations, and [`prune`]
//! leaves out what nobody reads. What a step stops or leaves out counts as it happened.

mod activity;
mod adjoint;
mod loops;
mod prune;
mod record;
mod straight;

use super::{Direction, Refused, forward, output, refused, variables};
use crate::{
    Artifact,
    ir::{
        BinaryOp, Block, Expr, Launch, Len, Phase, Program, Stmt, Type, Value, VarId, VarKind, cost,
    },
    manifest::{Field, Input, Manifest, Scalar, Source},
    passes, size,
    value::VEC4_WORDS,
};
use prune::pruned;
use record::Sweep;
use std::collections::HashSet;

/// The programs of a model that compute derivatives backwards.
#[derive(Clone, Debug)]
pub struct Reverse {
    /// The model; its outputs are those of the model, the adjoints of the last states ([`Carried::output`]),
    /// and what `finish` adds to the derivatives ([`By::output`]). Its inputs include the seeds.
    pub forward: Artifact,
    /// One step backwards. To be launched with one step more than the model, so that each of its steps ends
    /// before the last one. Its states begin with those of the model, word by word; at birth the adjoints
    /// come from the inputs [`Carried::input`], and the states of the model from its `init`.
    pub step: Artifact,
    /// `init` backwards: with the adjoints of the first states as inputs, the birth leaves the sums in its
    /// states. To be launched with one step more than the model, too.
    pub birth: Artifact,
    /// The outputs whose derivatives are wanted.
    pub wanted: Vec<Wanted>,
    /// The states that carry a derivative.
    pub carried: Vec<Carried>,
    /// What the derivatives are taken by.
    pub by: Vec<By>,
    /// If agents may stop: the word of [`Reverse::step`]'s states for the number of steps that the agent ran.
    pub ran: Option<u32>,
}

/// An output whose derivatives are wanted.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// As the model has it.
    pub field: Field,
    /// The input of [`Reverse::forward`] for its adjoint, of the same shape.
    pub seed: String,
}

/// A state that carries a derivative.
#[derive(Clone, Debug)]
pub struct Carried {
    /// The output of [`Reverse::forward`] with the adjoint of its last value.
    pub output: String,
    /// The input of the two others with its adjoint.
    pub input: String,
    /// Where its adjoint stands in the states of [`Reverse::step`].
    pub word: u32,
    /// Its words.
    pub words: u32,
}

/// Floats of a param or of an input that derivatives are taken by.
#[derive(Clone, Debug)]
pub struct By {
    /// As the model has it.
    pub field: Field,
    /// Is it an input, so that each agent has derivatives of its own?
    pub is_input: bool,
    /// The output of [`Reverse::forward`] with what `finish` adds.
    pub output: String,
    /// Where the sum stands in the states of [`Reverse::step`].
    pub step_word: u32,
    /// The same in [`Reverse::birth`].
    pub birth_word: u32,
}

/// The programs that compute the derivatives of outputs with respect to floats of params and inputs
/// backwards.
///
/// `of` are names of outputs, `wrt` of params or inputs: all floats of each.
///
/// # Errors
/// As [`super::forward`], but for the number of directions. A model with worlds, and one whose arrays and
/// those of its derivatives do not fit an agent's memory.
pub fn reverse(artifact: &Artifact, of: &[&str], wrt: &[&str]) -> Result<Reverse, Refused> {
    let (outputs, by) = asked(artifact, of, wrt)?;
    // The trees of what is recorded are as deep as those of the program.
    let mut lowered = artifact.lowered.clone();
    passes::split_deep::run(&mut lowered);
    let lowered = &lowered;
    let wanted: Vec<VarId> = outputs.iter().map(|(_, var)| *var).collect();
    let mut source = lowered.clone();
    let (init, _) = straight::straightened(lowered, &mut source, &lowered.init);
    let step = lowered
        .phases
        .first()
        .map_or(Block::new(), |phase| phase.body.clone());
    let (step, stopped) = straight::straightened(lowered, &mut source, &step);
    let (finish, _) = straight::straightened(lowered, &mut source, &lowered.finish);
    let prologue = &lowered.prologue;
    let [init, step, finish] = [init, step, finish].map(|block| [prologue.clone(), block].concat());
    let by_vars: Vec<VarId> = by.iter().map(|(_, var)| *var).collect();
    let blocks = [&init, &step, &finish];
    let model = Model {
        artifact,
        active: activity::active(&source, &blocks, &by_vars, &wanted),
        source,
        by: by_vars,
    };
    let (forward, seeds) = model.forward(&finish, &wanted)?;
    let (step, sums, ran) = model.step(&step, stopped.is_some())?;
    let (birth, birth_sums) = model.birth(&init)?;
    let name = |var: VarId| &model.source[var].name;
    let carried = model
        .states()
        .zip(&sums)
        .map(|(var, (word, words))| Carried {
            output: adjoint_of(name(var)),
            input: adjoint_of(name(var)),
            word: *word,
            words: *words,
        });
    let carried: Vec<Carried> = carried.collect();
    let sums = sums[carried.len()..].iter().zip(birth_sums);
    Ok(Reverse {
        forward,
        step,
        birth,
        carried,
        wanted: (outputs.into_iter().zip(seeds))
            .map(|((field, _), seed)| Wanted { field, seed })
            .collect(),
        by: (by.into_iter().zip(sums))
            .map(|((field, var), ((step_word, _), (birth_word, _)))| By {
                output: derivative_by(&field.name),
                is_input: model.source[var].kind == VarKind::Input,
                field,
                step_word: *step_word,
                birth_word,
            })
            .collect(),
        ran,
    })
}

/// Variables with what the manifest says of them.
type Named = Vec<(Field, VarId)>;

/// The outputs whose derivatives are asked for, and what they are taken by.
fn asked(artifact: &Artifact, of: &[&str], wrt: &[&str]) -> Result<(Named, Named), Refused> {
    let lowered = &artifact.lowered;
    if lowered.speaks_of_worlds() || lowered.phases.len() > 1 || !lowered.ends.is_empty() {
        return Err(refused(
            "reverse mode is not there for models with worlds yet: use forward mode",
        ));
    }
    if !lowered.checks.words.is_empty() {
        return Err(refused("derivatives are taken of a model without checks"));
    }
    let outputs = of.iter().map(|name| output(artifact, name));
    let outputs: Named = outputs.collect::<Result<_, _>>()?;
    let mut by = Vec::new();
    for name in wrt {
        by.extend(variables(artifact, name)?);
    }
    let direction = |(field, var): &(Field, VarId)| Direction {
        name: field.name.clone(),
        var: *var,
        element: None,
        component: 0,
    };
    let directions: Vec<Direction> = by.iter().map(direction).collect();
    let wanted: Vec<VarId> = outputs.iter().map(|(_, var)| *var).collect();
    forward::check(lowered, &directions, &wanted)?;
    Ok((outputs, by))
}

fn adjoint_of(name: &str) -> String {
    format!("adjoint of {name}")
}

fn derivative_by(name: &str) -> String {
    format!("derivative by {name}")
}

/// What the three programs are made of.
struct Model<'a> {
    artifact: &'a Artifact,
    /// The lowered program, with the variables of the straight one.
    source: Program,
    active: HashSet<VarId>,
    by: Vec<VarId>,
}

/// The first word of a variable in its row, and the number of its words.
type Place = (u32, u32);

impl Model<'_> {
    /// The states that carry a derivative.
    fn states(&self) -> impl Iterator<Item = VarId> {
        let states = self.source.states.iter().copied();
        states.filter(|var| self.active.contains(var))
    }

    /// The model, with the adjoints of its last states; and the names of the seeds.
    fn forward(
        &self,
        finish: &Block,
        wanted: &[VarId],
    ) -> Result<(Artifact, Vec<String>), Refused> {
        let mut sweep = Sweep::new(&self.source, &self.active);
        let mut made = Made::of(self.artifact);
        let mut seeds = Vec::new();
        for &var in wanted {
            let seed = adjoint_of(&self.source[var].name);
            made.begin_with_input(&mut sweep, var, &seed, VarKind::Local);
            seeds.push(seed);
        }
        let states: Vec<VarId> = self.states().collect();
        let names = (states.iter()).map(|var| (*var, adjoint_of(&self.source[*var].name)));
        let by = (self.by.iter()).map(|var| (*var, derivative_by(&self.source[*var].name)));
        for (var, name) in names.chain(by) {
            let bar = sweep.bar(var, VarKind::Output);
            sweep.program[bar].name.clone_from(&name);
            sweep.program[bar].word = sweep.program.row_words(&sweep.program.outputs);
            sweep.program.outputs.push(bar);
            let field = field(&sweep.program, name, bar);
            made.manifest.outputs.push(field);
            sweep.clear(bar);
        }
        let first = std::mem::take(&mut sweep.block);
        let block = [first, sweep.frame(finish)].concat();
        sweep.program.finish = pruned(&sweep.program, block, &HashSet::new());
        Ok((made.artifact(self.artifact, sweep)?, seeds))
    }

    /// One step backwards; where the adjoints of states and then the sums for the derivatives stand, and the
    /// number of the steps that the agent ran.
    fn step(
        &self,
        step: &Block,
        stops: bool,
    ) -> Result<(Artifact, Vec<Place>, Option<u32>), Refused> {
        let mut sweep = Sweep::new(&self.source, &self.active);
        let mut made = Made::of(self.artifact);
        made.drop_outputs(&mut sweep.program);
        let mut places = Vec::new();
        for var in self.states() {
            let name = adjoint_of(&self.source[var].name);
            made.begin_with_input(&mut sweep, var, &name, VarKind::State);
            places.push(sweep.place_of(var));
        }
        for &var in &self.by {
            sweep.sum_of(var);
            places.push(sweep.place_of(var));
        }
        let ran = stops.then(|| {
            let ran = sweep.variable("ran", Type::I32, Len::One, VarKind::State);
            sweep.add_state(ran);
            // Kernels lay out states by the types that the manifest has.
            made.manifest
                .states
                .push(field(&sweep.program, "ran".to_owned(), ran));
            let one = sweep.add(Expr::Literal(Value::I32(1)));
            sweep.assign(ran, None, one);
            ran
        });
        let first = std::mem::take(&mut sweep.block);
        sweep.program.init.extend(first);
        let block = sweep.frame(step);
        let states = self.source.states.iter().copied().collect();
        let mut body = pruned(&sweep.program, block, &states);
        if let Some(ran) = ran {
            let step = sweep.add(Expr::Launch(Launch::Step));
            let ran = sweep.add(Expr::Read(ran));
            let condition = sweep.add(Expr::Binary(BinaryOp::Less, step, ran));
            body = vec![Stmt::If {
                condition,
                accept: body,
                reject: Block::new(),
            }];
        }
        sweep.program.phases = vec![Phase::from(body)];
        let ran = ran.map(|var| sweep.program[var].word);
        Ok((made.artifact(self.artifact, sweep)?, places, ran))
    }

    /// `init` backwards, and where the sums stand.
    fn birth(&self, init: &Block) -> Result<(Artifact, Vec<Place>), Refused> {
        let mut sweep = Sweep::new(&self.source, &self.active);
        let mut made = Made::of(self.artifact);
        made.drop_outputs(&mut sweep.program);
        for var in self.states() {
            let name = adjoint_of(&self.source[var].name);
            made.begin_with_input(&mut sweep, var, &name, VarKind::Local);
        }
        let mut places = Vec::new();
        for &var in &self.by {
            sweep.sum_of(var);
            places.push(sweep.place_of(var));
        }
        let first = std::mem::take(&mut sweep.block);
        let block = [first, sweep.frame(init)].concat();
        sweep.program.init = pruned(&sweep.program, block, &HashSet::new());
        sweep.program.phases = vec![Phase::default()];
        Ok((made.artifact(self.artifact, sweep)?, places))
    }
}

impl Sweep<'_> {
    /// Sets a variable to zeros.
    fn clear(&mut self, var: VarId) {
        let zero = Value::zero(self.program[var].ty);
        match self.program[var].len {
            Len::Fixed(count) => self.copy(count, |sweep, k| {
                let value = sweep.add(Expr::Literal(zero));
                sweep.assign(var, Some(k), value);
            }),
            Len::One | Len::Open { .. } => {
                let value = self.add(Expr::Literal(zero));
                self.assign(var, None, value);
            }
        }
    }

    fn add_state(&mut self, var: VarId) {
        self.program[var].word = self.program.row_words(&self.program.states);
        self.program.states.push(var);
    }

    /// A state for the derivative by a param or an input, which begins with zeros.
    fn sum_of(&mut self, var: VarId) {
        let bar = self.bar(var, VarKind::State);
        self.add_state(bar);
        self.clear(bar);
    }

    /// Where the state with the adjoint of a variable stands.
    fn place_of(&self, var: VarId) -> Place {
        let bar = self.bars[&var];
        let word = self.program[bar].word;
        (word, self.program.row_words(&[bar]) - word)
    }
}

/// The interface of a program that is being made.
struct Made {
    manifest: Manifest,
    /// Has a launch one step more than the model's?
    has_more_steps: bool,
}

impl Made {
    fn of(artifact: &Artifact) -> Made {
        let mut manifest = artifact.manifest.clone();
        manifest.samplings.clear();
        manifest.series.clear();
        Made {
            manifest,
            has_more_steps: false,
        }
    }

    /// Leaves out what is behind the last step.
    fn drop_outputs(&mut self, program: &mut Program) {
        for var in std::mem::take(&mut program.outputs) {
            program[var].kind = VarKind::Local;
        }
        program.finish = Block::new();
        self.manifest.outputs.clear();
        // The forward run has looked at the tables.
        self.manifest.requirements.clear();
        self.has_more_steps = true;
    }

    /// Gives a variable of the source an adjoint that begins with the value of an input.
    fn begin_with_input(&mut self, sweep: &mut Sweep<'_>, var: VarId, name: &str, kind: VarKind) {
        let (ty, len) = (sweep.source[var].ty, sweep.source[var].len);
        let input = sweep.variable(name, ty, len, VarKind::Input);
        sweep.program[input].word = sweep.program.row_words(&sweep.program.inputs);
        sweep.program.inputs.push(input);
        let field = field(&sweep.program, name.to_owned(), input);
        self.manifest.inputs.push(Input {
            field,
            source: Source::Required,
        });
        let bar = sweep.bar(var, kind);
        if kind == VarKind::State {
            sweep.add_state(bar);
        } else {
            let declaration = sweep.zeros(bar);
            sweep.block.push(declaration);
        }
        match len {
            Len::Fixed(count) => sweep.copy(count, |sweep, k| {
                let value = sweep.element(input, Some(k));
                sweep.assign(bar, Some(k), value);
            }),
            Len::One | Len::Open { .. } => {
                let value = sweep.element(input, None);
                sweep.assign(bar, None, value);
            }
        }
    }

    /// The artifact of the program.
    fn artifact(mut self, model: &Artifact, sweep: Sweep<'_>) -> Result<Artifact, Refused> {
        if let Some(refused) = sweep.refused {
            return Err(refused);
        }
        let mut program = sweep.program;
        for sample in std::mem::take(&mut program.samples) {
            for var in sample.records.into_iter().chain(sample.world_records) {
                program[var].kind = VarKind::Local;
            }
        }
        if self.has_more_steps {
            take_one_step_off(&mut program);
        }
        crate::ir::verify::debug_verify(&program, "reverse");
        let manifest = &mut self.manifest;
        manifest.state_words = program.row_words(&program.states);
        manifest.output_words = program.row_words(&program.outputs);
        manifest.input_words = program
            .row_words(&program.inputs)
            .next_multiple_of(VEC4_WORDS);
        manifest.inner_iterations = cost::iterations::inner_iterations(&program);
        let mut artifact = model.clone();
        artifact.manifest = self.manifest;
        artifact.launch_checks = None;
        artifact.tests.clear();
        artifact.lowered = program.clone();
        if artifact.options.optimise {
            passes::optimise(&mut program);
        }
        size::check_program(&program).map_err(|found| refused(found[0].message.clone()))?;
        artifact.program = program;
        Ok(artifact)
    }
}

/// Reads one step less than the launch has.
fn take_one_step_off(program: &mut Program) {
    for id in 0..program.exprs.len() {
        if program.exprs[id] == Expr::Launch(Launch::Steps) {
            let span = program.spans[id];
            let steps = program.add(Expr::Launch(Launch::Steps), span);
            let one = program.add(Expr::Literal(Value::I32(1)), span);
            program.exprs[id] = Expr::Binary(BinaryOp::Subtract, steps, one);
        }
    }
}

/// How the manifest speaks of a variable that is made.
fn field(program: &Program, name: String, var: VarId) -> Field {
    let var = &program[var];
    Field {
        doc: String::new(),
        scalar: Scalar::from(var.ty),
        shape: match var.len {
            Len::Fixed(count) => vec![count],
            Len::One | Len::Open { .. } => Vec::new(),
        },
        components: var.ty.components() as u32,
        variants: Vec::new(),
        word: var.word,
        name,
    }
}
