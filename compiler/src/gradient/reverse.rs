//! Reverse mode: derivatives of an output by any number of floats, at a cost that does not depend on their
//! number.
//!
//! A run is `finish(step(… step(init)))`. Backwards, it takes the *adjoints* of the states, the derivatives
//! of the wanted value by them, from the end of each step to its beginning; on the way what each step adds to
//! the derivatives by params and inputs is summed up. [`reverse`] makes one program of a model, which runs
//! forward and back. So all backends, passes and schedules serve it as any other. Its own steps are segments
//! of the model's: [`segments`] says which states it keeps, and in which order it takes the steps.
//!
//! How a step is turned around: [`unroll`] writes several steps as one, [`straight`] writes them without
//! jumps and calls, [`record`] names all values and reverses statements, [`loops`] reverses loops,
//! [`adjoint`] has the rules of operations, and [`prune`] leaves out what nobody reads. What a step stops or
//! leaves out counts as it happened.
//!
//! Where agents depend on one another, or a step has several phases, [`worlds`] makes the program: agents
//! wait for one another between phases, so that each step back is a step of the program. [`rounds`] is their
//! order, [`parts`] brings phases into a form that can be turned around, and [`members`] has what agents read
//! of one another.

mod activity;
mod adjoint;
mod build;
mod combined;
mod loops;
mod members;
mod parts;
mod prune;
mod record;
mod rounds;
mod segments;
mod straight;
mod unroll;
mod worlds;

use super::{Direction, Refused, forward, output, refused, variables};
use crate::{
    Artifact,
    ir::{Block, Expr, ExprId, Launch, Len, Phase, Program, Value, VarId, VarKind, cost},
    manifest::{Field, Manifest},
    passes,
    random::{FINISH_STEP, INIT_STEP},
    size,
};
pub(super) use prune::pruned;
use prune::without_dead_stores;
use record::Sweep;
use segments::{Cut, Steps};
use std::collections::HashSet;

/// A model with outputs that are derivatives by reverse mode.
#[derive(Clone, Debug)]
pub struct Reverse {
    /// Runs the model forward and back. Its outputs begin with those of the model.
    pub artifact: Artifact,
    /// The number of steps to launch it with.
    pub steps: u32,
    /// What the derivatives are taken by.
    pub by: Vec<By>,
}

/// Floats of a param or of an input that derivatives are taken by.
#[derive(Clone, Debug)]
pub struct By {
    /// As the model has it.
    pub field: Field,
    /// The output with the derivatives, of the same shape.
    pub output: String,
}

/// The program that computes, for a run of so many steps, the derivatives of a value of an output with
/// respect to floats of params and inputs backwards.
///
/// `of` is the name of an output, `place` the number of the value among those that it has, `wrt` are names of
/// params or inputs: all floats of each.
///
/// Where agents depend on one another the derivatives are those of the sum of the value over all agents: by
/// an agent's input, what all agents of its world make of it; by a param, what the agent adds to the
/// derivative of the sum.
///
/// # Errors
/// As [`super::forward`], but for the number of directions. A model whose states and arrays leave too little
/// of an agent's memory; one whose agents depend on one another and stop; and folds over a world that are no
/// sums, that draw, or that stand in a loop.
pub fn reverse(
    artifact: &Artifact,
    of: &str,
    place: usize,
    wrt: &[&str],
    steps: u32,
) -> Result<Reverse, Refused> {
    let (wanted, by) = asked(artifact, of, wrt)?;
    // The trees of what is recorded are as deep as those of the program.
    let mut lowered = artifact.lowered.clone();
    passes::split_deep::run(&mut lowered);
    for expr in &mut lowered.exprs {
        if *expr == Expr::Launch(Launch::Steps) {
            *expr = Expr::Literal(Value::I32(steps as i32));
        }
    }
    let lowered = &lowered;
    if worlds::has_phases(lowered) {
        return worlds::program(artifact, lowered, ((wanted, place), by), steps);
    }
    let mut source = lowered.clone();
    let init = straight::straightened(lowered, &mut source, &lowered.init, None);
    let finish = straight::straightened(lowered, &mut source, &lowered.finish, None);
    draw_in(&mut source, &init, Expr::Literal(Value::U32(INIT_STEP)));
    draw_in(&mut source, &finish, Expr::Literal(Value::U32(FINISH_STEP)));
    let run = unroll::unrolled(lowered, &mut source, steps);
    let finish = [run.rest, finish].concat();
    let prologue = &lowered.prologue;
    let [init, finish] = [init, finish].map(|block| [prologue.clone(), block].concat());
    let by_vars: Vec<VarId> = by.iter().map(|(_, var)| *var).collect();
    let model = Model {
        artifact,
        active: activity::active(
            &source,
            &[&init, &run.steps.block, &finish],
            &by_vars,
            &[wanted],
        ),
        wanted: (wanted, place),
        init,
        finish,
        steps: run.steps,
        source,
        by,
    };
    let mut cut = Cut::new(run.count, steps);
    loop {
        match model.program(cut) {
            Err(NotMade::TooLarge(refused)) => cut = cut.finer().ok_or(refused)?,
            Err(NotMade::Refused(refused)) => return Err(refused),
            Ok(found) => return Ok(found),
        }
    }
}

/// Why a program is not made.
enum NotMade {
    Refused(Refused),
    /// It does not fit; one that is cut otherwise may.
    TooLarge(Refused),
}

/// A variable with what the manifest says of it.
type Named = (Field, VarId);

/// The output whose derivatives are asked for, and what they are taken by.
fn asked(artifact: &Artifact, of: &str, wrt: &[&str]) -> Result<(VarId, Vec<Named>), Refused> {
    let lowered = &artifact.lowered;
    if !lowered.checks.words.is_empty() {
        return Err(refused("derivatives are taken of a model without checks"));
    }
    let (_, wanted) = output(artifact, of)?;
    let mut by: Vec<Named> = Vec::new();
    for name in wrt {
        for one in variables(artifact, name)? {
            if by.iter().all(|known| known.1 != one.1) {
                by.push(one);
            }
        }
    }
    let direction = |(field, var): &Named| Direction {
        name: field.name.clone(),
        var: *var,
        element: None,
        component: 0,
    };
    let directions: Vec<Direction> = by.iter().map(direction).collect();
    forward::check(lowered, &directions, &[wanted])?;
    Ok((wanted, by))
}

/// Do agents depend on one another: do they read values of others, or sums over their world?
pub fn agents_depend(artifact: &Artifact) -> bool {
    worlds::agents_depend(&artifact.lowered)
}

fn nodes(program: &Program, block: &Block) -> Vec<ExprId> {
    let mut found = Vec::new();
    program.each_node_of(block, &mut |id| found.push(id));
    found
}

/// Lets a block draw the numbers of a step wherever it runs.
fn draw_in(program: &mut Program, block: &Block, of_step: Expr) {
    for id in nodes(program, block) {
        if matches!(program[id], Expr::RandomWord { .. }) {
            let own = program.add(of_step.clone(), program.span(id));
            if let Expr::RandomWord { step, .. } = &mut program[id] {
                *step = Some(own);
            }
        }
    }
}

/// What the program is made of.
struct Model<'a> {
    artifact: &'a Artifact,
    /// The lowered program, with the variables of the straight one.
    source: Program,
    active: HashSet<VarId>,
    /// The output, and the number of its value.
    wanted: (VarId, usize),
    by: Vec<Named>,
    /// `init`, straight.
    init: Block,
    steps: Steps,
    finish: Block,
}

impl Model<'_> {
    /// The program that runs in segments.
    fn program(&self, cut: Cut) -> Result<Reverse, NotMade> {
        let mut sweep = Sweep::new(&self.source, &self.active);
        let mut made = Made::of(self.artifact);
        let copies = made.keep_outputs(&mut sweep.program);
        for (_, kept) in &copies {
            sweep.clear(*kept);
        }
        for var in self
            .source
            .states
            .iter()
            .filter(|var| self.active.contains(var))
        {
            let bar = sweep.bar(*var, VarKind::State);
            made.begin_with_zeros(&mut sweep, bar);
        }
        let sums: Vec<VarId> = (self.by.iter())
            .map(|(_, var)| {
                let sum = sweep.bar(*var, VarKind::State);
                made.begin_with_zeros(&mut sweep, sum);
                sum
            })
            .collect();
        let first = std::mem::take(&mut sweep.block);
        sweep.program.init.extend(first);
        let time = sweep.time_loop(cut, self, &sums);
        for var in time.states {
            made.begin_with_zeros(&mut sweep, var);
        }
        let first = std::mem::take(&mut sweep.block);
        sweep.program.init.extend(first);
        sweep.program.init.extend(time.init);
        sweep.program.prologue.extend(time.prologue);
        sweep.program.phases = vec![Phase::from(time.step)];
        // `init` backwards, behind the last step.
        for (output, state) in copies {
            sweep.each_value(state, |sweep, k| {
                let value = sweep.element(state, k);
                sweep.assign(output, k, value);
            });
        }
        for (_, var) in &self.by {
            sweep.bar(*var, VarKind::Local);
        }
        sweep.begin_sums(self);
        let way_back = sweep.frame(&self.init);
        sweep.block.extend(way_back);
        let mut derivatives = Vec::new();
        for ((field, var), sum) in self.by.iter().zip(&sums) {
            let output = made.output(&mut sweep, *sum, format!("derivative by {}", field.name));
            sweep.add_sum(output, *sum, *var);
            derivatives.push(By {
                field: field.clone(),
                output: sweep.program[output].name.clone(),
            });
        }
        let block = std::mem::take(&mut sweep.block);
        let states = sweep.program.states.iter().copied().collect();
        sweep.program.finish = pruned(&sweep.program, block, &states);
        clean(&mut sweep.program);
        Ok(Reverse {
            artifact: made.artifact(self.artifact, sweep, Some(cut))?,
            steps: cut.rounds(),
            by: derivatives,
        })
    }
}

/// Removes assignments that nobody reads.
fn clean(program: &mut Program) {
    let states = program.states.iter().chain(&program.world_states);
    let states = states.copied().collect();
    for mut phase in std::mem::take(&mut program.phases) {
        phase.body = without_dead_stores(program, phase.body, &states);
        program.phases.push(phase);
    }
    let outputs = program.outputs.iter().copied().collect();
    let finish = std::mem::take(&mut program.finish);
    program.finish = without_dead_stores(program, finish, &outputs);
}

/// The interface of the program that is being made.
struct Made {
    manifest: Manifest,
}

impl Made {
    fn of(artifact: &Artifact) -> Made {
        let mut manifest = artifact.manifest.clone();
        manifest.samplings.clear();
        manifest.series.clear();
        // They speak of the model's steps; whoever runs it looks at the tables.
        manifest.requirements.clear();
        manifest.has_step = true;
        if let Some(world) = &mut manifest.world {
            world.rows.outputs.clear();
        }
        Made { manifest }
    }

    /// Makes states of the outputs, which are known before the end; copies of them are the outputs then.
    fn keep_outputs(&mut self, program: &mut Program) -> Vec<(VarId, VarId)> {
        let mut copies = Vec::new();
        for kept in std::mem::take(&mut program.outputs) {
            let output = program.add_var(program[kept].clone());
            program.outputs.push(output);
            program[kept].kind = VarKind::State;
            self.state(program, kept);
            copies.push((output, kept));
        }
        copies
    }

    /// Adds a state of an agent or, by its kind, of a world.
    fn state(&mut self, program: &mut Program, var: VarId) {
        let of_world = program[var].kind == VarKind::WorldState;
        let row = match of_world {
            true => &program.world_states,
            false => &program.states,
        };
        program[var].word = program.row_words(row);
        match of_world {
            true => program.world_states.push(var),
            false => program.states.push(var),
        }
        // Kernels lay out states by the types that the manifest has.
        let field = field(program, program[var].name.clone(), var);
        match &mut self.manifest.world {
            Some(world) if of_world => world.rows.states.push(field),
            Some(_) | None => self.manifest.states.push(field),
        }
    }

    /// Adds a state that is zero at birth.
    fn begin_with_zeros(&mut self, sweep: &mut Sweep<'_>, var: VarId) {
        self.state(&mut sweep.program, var);
        sweep.clear(var);
    }

    /// An output of the shape of a variable.
    fn output(&mut self, sweep: &mut Sweep<'_>, like: VarId, name: String) -> VarId {
        let program = &mut sweep.program;
        let (ty, len) = (program[like].ty, program[like].len);
        let output = sweep.variable(&name, ty, len, VarKind::Output);
        let program = &mut sweep.program;
        program[output].word = program.row_words(&program.outputs);
        program.outputs.push(output);
        self.manifest.outputs.push(field(program, name, output));
        output
    }

    /// The artifact of the program.
    fn artifact(
        mut self,
        model: &Artifact,
        sweep: Sweep<'_>,
        cut: Option<Cut>,
    ) -> Result<Artifact, NotMade> {
        if let Some(refused) = sweep.refused {
            return Err(NotMade::Refused(refused));
        }
        let mut program = sweep.program;
        for sample in std::mem::take(&mut program.samples) {
            for var in sample.records.into_iter().chain(sample.world_records) {
                program[var].kind = VarKind::Local;
            }
        }
        crate::ir::verify::debug_verify(&program, "reverse");
        let manifest = &mut self.manifest;
        manifest.state_words = program.row_words(&program.states);
        manifest.output_words = program.row_words(&program.outputs);
        if let Some(world) = &mut manifest.world {
            world.rows.state_words = program.row_words(&program.world_states);
            world.rows.output_words = program.row_words(&program.world_outputs);
        }
        // Where segments end depends on the run, how long they are at most does not.
        let of_cut = || Some(manifest.inner_iterations.map(|_| cut)??.iterations());
        manifest.inner_iterations = cost::iterations::inner_iterations(&program).or_else(of_cut);
        let mut artifact = model.clone();
        artifact.manifest = self.manifest;
        artifact.launch_checks = None;
        artifact.tests.clear();
        artifact.lowered = program.clone();
        if artifact.options.optimise {
            passes::optimise(&mut program);
            clean(&mut program);
        }
        size::check_program(&program)
            .map_err(|found| NotMade::TooLarge(refused(found[0].message.clone())))?;
        artifact.program = program;
        Ok(artifact)
    }
}

/// How the manifest speaks of a variable that is made.
fn field(program: &Program, name: String, var: VarId) -> Field {
    let var = &program[var];
    Field {
        doc: String::new(),
        scalar: var.ty.stored(program.real),
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
