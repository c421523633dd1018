//! Lowers the checked model to the IR: structs taken apart, arrays flattened, `match`, `while`, folds,
//! `integrate` and draws expanded, functions inlined where the IR's functions cannot express them.
//!
//! A value of one scalar or vector is an expression tree. Anything larger is stored in variables: a
//! [`place::Place`] says in which, and where in them.

mod checks;
mod compensated;
mod draw;
mod expr;
mod fold;
mod index;
mod inline;
mod integrate;
mod launch_checks;
mod layout;
mod place;
mod sample;
mod stmt;
mod store;
mod test;
mod world;

use crate::{
    builtin::BuiltinId,
    diagnostic::{Diagnostic, catalog},
    hir::{self, InputSource, Model, StateId, Type},
    ir::{
        self, Block, Expr, ExprId, Len, Owner, Phase, Program, Stmt, Value, Var, VarId, VarKind,
        checks::When,
    },
    launch_checks::{LaunchChecks, Phase as CheckedPhase},
    manifest::{Manifest, Requirement},
    random::INPUT_STEP,
    span::Span,
    testing::Test,
};
use place::{Fields, Place};
use std::collections::{HashMap, HashSet};
use world::Agent;

/// Expressions and variables that a model may become. A few lines can expand to very many: structs are copied
/// field by field, and functions inlined at each call.
const MOST_NODES: usize = 1 << 20;
/// Bytes of names and documentation that count as one expression: each field of a struct has them.
const TEXT_OF_A_NODE: usize = 64;

/// Nesting depth of blocks, each arm of a chain within the one before: the passes recurse over them.
const MOST_LEVELS: u32 = 2_100;

/// Lowers a model without errors, with checks or without.
///
/// # Errors
/// The complaint that it becomes too long or too deep.
pub fn lower(model: &Model, checks: bool) -> Result<Lowered, Vec<Diagnostic>> {
    let mut lowerer = Lowerer::new(model);
    lowerer.checking.enabled = checks;
    lowerer.declare_roots();
    if !lowerer.is_full() {
        lowerer.input_defaults();
        lowerer.init();
        lowerer.step();
        lowerer.samples();
        lowerer.finish();
        if checks {
            lowerer.finish_checks();
        }
    }
    if let Some(complaint) = lowerer.refused.take() {
        return Err(vec![complaint]);
    }
    let manifest = lowerer.manifest();
    let tests = lowerer.tests();
    let launch_checks = lowerer.launch_checks();
    if let Some(complaint) = lowerer.refused {
        return Err(vec![complaint]);
    }
    Ok(Lowered {
        manifest,
        tests,
        launch_checks,
        program: lowerer.program,
    })
}

/// The result of lowering.
pub struct Lowered {
    pub program: Program,
    pub manifest: Manifest,
    pub tests: Vec<Test>,
    pub launch_checks: Option<LaunchChecks>,
}

/// What a return from a function that is being inlined does.
struct Frame {
    result: Place,
    /// Set once the function has returned; none if control flow alone expresses it.
    returned: Option<VarId>,
    /// Loops of the function around the current statement.
    loops: u32,
}

struct Lowerer<'a> {
    model: &'a Model,
    program: Program,
    /// The block that statements go to.
    block: Block,
    params: Vec<Place>,
    data: Vec<Place>,
    inputs: Vec<Place>,
    states: Vec<Place>,
    /// Per state that is integrated: the float beside it.
    low_parts: HashMap<VarId, VarId>,
    outputs: Vec<Place>,
    /// What is sampled, and the number of its sampling.
    series: Vec<(usize, Place)>,
    /// The sampling whose variables are being declared.
    sampling: usize,
    locals: HashMap<hir::LocalId, Place>,
    /// Inside `integrate`: the stage value of each state that has an equation.
    stage: HashMap<StateId, VarId>,
    functions: HashMap<hir::FunctionId, ir::FunctionId>,
    frame: Option<Frame>,
    /// Whose code is being lowered.
    owner: Owner,
    /// By owner: the counter of draws, once the current block has drawn.
    draws: [Option<VarId>; 2],
    /// The counters of all blocks.
    counters: HashSet<VarId>,
    /// Agents of the world that are named.
    agents: HashMap<hir::LocalId, Agent>,
    /// Folds of the world that have been computed, and where they are kept.
    gathered: HashMap<hir::ExprId, VarId>,
    /// Within the elements of a fold of the world?
    in_elements: bool,
    /// What must hold for an assertion here to count: the filters of the folds of the world around it, whose
    /// elements are computed whatever the filters say.
    guards: Vec<VarId>,
    /// The `let`s of the current block whose values are of the world.
    shared: HashSet<hir::LocalId>,
    /// Inclusive bounds of index variables and lets, where known.
    ranges: HashMap<VarId, (i64, i64)>,
    requirements: Vec<Requirement>,
    /// Not every agent reaches the current statement in every step.
    conditional: bool,
    /// When the current statement runs.
    phase: CheckedPhase,
    /// Draws that every agent reaches.
    reached: Vec<launch_checks::Reached>,
    /// Names of arguments that the program itself does not use.
    names_of_checks: Block,
    constants: HashMap<Vec<u32>, VarId>,
    /// Where the constants of the model that were used are stored, by their place in memory and their type.
    known_constants: HashMap<(*const hir::Constant, Type), Place>,
    /// Whether the constants of the model that were stored are several equal values.
    uniform: HashMap<*const hir::Constant, bool>,
    /// How the leaves of each struct are laid out.
    fields: Fields,
    checking: checks::Checking,
    span: Span,
    /// Bytes of names and documentation of variables.
    text: usize,
    /// Blocks around the current statement.
    levels: u32,
    /// The program became too long or too deep, and lowering has stopped.
    refused: Option<Diagnostic>,
}

impl<'a> Lowerer<'a> {
    fn new(model: &'a Model) -> Self {
        Lowerer {
            model,
            program: Program {
                real: model.real,
                ..Program::default()
            },
            block: Vec::new(),
            params: Vec::new(),
            data: Vec::new(),
            inputs: Vec::new(),
            states: Vec::new(),
            low_parts: HashMap::new(),
            outputs: Vec::new(),
            series: Vec::new(),
            sampling: 0,
            locals: HashMap::new(),
            stage: HashMap::new(),
            functions: HashMap::new(),
            frame: None,
            owner: Owner::Agent,
            draws: [None; 2],
            counters: HashSet::new(),
            agents: HashMap::new(),
            gathered: HashMap::new(),
            in_elements: false,
            guards: Vec::new(),
            shared: HashSet::new(),
            ranges: HashMap::new(),
            requirements: Vec::new(),
            conditional: false,
            phase: CheckedPhase::default(),
            reached: Vec::new(),
            names_of_checks: Block::new(),
            constants: HashMap::new(),
            known_constants: HashMap::new(),
            uniform: HashMap::new(),
            fields: Fields::of(model),
            checking: checks::Checking::default(),
            span: Span::default(),
            text: 0,
            levels: 0,
            refused: None,
        }
    }

    fn input_defaults(&mut self) {
        for (number, input) in self.model.inputs.iter().enumerate() {
            let place = self.inputs[number].clone();
            self.phase = CheckedPhase::Input(self.program.input_defaults.len());
            (self.checking.when, self.checking.input) = (When::Launch, Some(number));
            let body = match input.source {
                InputSource::Required => continue,
                InputSource::Default(value) => {
                    self.entry_of(input.owner, |lowerer| lowerer.fill(&place, value))
                }
                InputSource::Drawn(value) => {
                    self.entry_of(input.owner, |lowerer| lowerer.draw_each(&place, value))
                }
            };
            self.program.input_defaults.push(ir::InputDefault {
                input: input.name.clone(),
                random_step: INPUT_STEP - number as u32,
                owner: input.owner,
                body,
            });
        }
    }

    fn init(&mut self) {
        let model = self.model;
        self.phase = CheckedPhase::Always;
        (self.checking.when, self.checking.input) = (When::Beginning, None);
        self.program.init = self.entry(|lowerer| {
            for owner in [Owner::World, Owner::Agent] {
                lowerer.owner = owner;
                for (state, place) in model.states.iter().zip(lowerer.states.clone()) {
                    if state.owner == owner {
                        lowerer.span = state.span;
                        lowerer.store_into(&place, state.init);
                    }
                }
            }
            for body in &model.init {
                lowerer.stmts(body);
            }
        });
    }

    fn step(&mut self) {
        let model = self.model;
        self.phase = CheckedPhase::Step;
        self.checking.when = When::Step;
        let mut renormalised = false;
        let blocks = model.step.iter().map(|block| (block.owner, &block.body));
        let phases = self.phases(blocks.collect(), |lowerer| {
            if !std::mem::replace(&mut renormalised, true) {
                lowerer.renormalise_in_step();
            }
        });
        self.program.phases = phases;
        self.program.phases.retain(|phase| !phase.is_empty());
    }

    /// The phases of blocks that run one after another; `begin` runs at the beginning of each that agents
    /// run. A block that reads no other agents belongs to the phase before it.
    fn phases(
        &mut self,
        blocks: Vec<(Owner, &'a hir::Block)>,
        mut begin: impl FnMut(&mut Self),
    ) -> Vec<Phase> {
        let mut groups: Vec<(Owner, Vec<&'a hir::Block>)> = Vec::new();
        for (owner, block) in blocks {
            match groups.last_mut() {
                Some((last, group))
                    if *last == owner && (owner == Owner::World || !self.reads_world(block)) =>
                {
                    group.push(block);
                }
                _ => groups.push((owner, vec![block])),
            }
        }
        let mut phases = Vec::new();
        for (owner, group) in groups {
            if owner == Owner::Agent {
                let read: Vec<&[hir::Stmt]> = group.iter().map(|block| block.as_slice()).collect();
                phases.extend(self.gather(&read, &[]));
            }
            let body = self.entry_of(owner, |lowerer| {
                if owner == Owner::Agent {
                    begin(lowerer);
                }
                for block in group {
                    lowerer.shared = lowerer.shared_lets(block);
                    lowerer.stmts(block);
                }
            });
            phases.push(Phase { owner, body });
        }
        self.number_draws(&mut phases);
        phases
    }

    fn finish(&mut self) {
        let model = self.model;
        self.phase = CheckedPhase::Always;
        self.checking.when = When::End;
        let outputs = |owner| {
            model
                .outputs
                .iter()
                .filter(move |output| output.owner == owner)
        };
        let values: Vec<hir::ExprId> = outputs(Owner::Agent).map(|output| output.value).collect();
        let worlds = outputs(Owner::World).next().is_some()
            || model.finish.iter().any(|body| self.reads_world(body))
            || values.iter().any(|&value| self.value_reads_world(value));
        let mut blocks = &model.finish[..];
        if worlds {
            let all = blocks.iter().map(|body| (Owner::Agent, body)).collect();
            let mut ends = self.phases(all, |_| {});
            ends.push(self.entry(Self::renormalise_all).into());
            ends.extend(self.gather(&[], &values));
            let body = self.entry_of(Owner::World, |lowerer| lowerer.outputs_of(Owner::World));
            ends.push(Phase {
                owner: Owner::World,
                body,
            });
            ends.retain(|phase| !phase.is_empty());
            self.program.ends = ends;
            blocks = &[];
        }
        self.program.finish = self.entry(|lowerer| {
            for body in blocks {
                lowerer.stmts(body);
            }
            lowerer.renormalise_all();
            lowerer.outputs_of(Owner::Agent);
        });
    }

    fn outputs_of(&mut self, owner: Owner) {
        let model = self.model;
        for (output, place) in model.outputs.iter().zip(self.outputs.clone()) {
            if output.owner == owner {
                self.span = output.span;
                self.store_into(&place, output.value);
            }
        }
    }

    /// A block of agents that runs on its own and numbers its draws from 0.
    fn entry(&mut self, run: impl FnOnce(&mut Self)) -> Block {
        self.entry_of(Owner::Agent, run)
    }

    /// A block that runs on its own and numbers its draws from 0.
    fn entry_of(&mut self, owner: Owner, run: impl FnOnce(&mut Self)) -> Block {
        self.conditional = false;
        self.draws = [None; 2];
        self.owner = owner;
        let mut body = self.nested(run);
        self.owner = Owner::Agent;
        for draws in std::mem::take(&mut self.draws).into_iter().flatten() {
            self.counters.insert(draws);
            let zero = self.literal(Value::U32(0));
            body.insert(
                0,
                Stmt::Var {
                    var: draws,
                    value: Some(zero),
                },
            );
        }
        body
    }

    /// The statements that `run` emits, as a block of their own.
    fn nested(&mut self, run: impl FnOnce(&mut Self)) -> Block {
        let outer = std::mem::take(&mut self.block);
        self.levels += 1;
        if self.levels > MOST_LEVELS && self.refused.is_none() {
            let (levels, span) = (self.levels, self.span);
            self.refused = Some(catalog::model::blocks_too_deep(levels, MOST_LEVELS, span));
        }
        run(self);
        self.levels -= 1;
        std::mem::replace(&mut self.block, outer)
    }

    /// Like `nested`, for code that not every agent reaches.
    fn conditionally(&mut self, run: impl FnOnce(&mut Self)) -> Block {
        let before = std::mem::replace(&mut self.conditional, true);
        let block = self.nested(run);
        self.conditional = before;
        block
    }

    /// Whether the program is too long to go on.
    fn is_full(&mut self) -> bool {
        let nodes = self.program.exprs.len() + self.program.vars.len();
        if nodes + self.text / TEXT_OF_A_NODE > MOST_NODES {
            let complaint = || catalog::model::too_many_operations(MOST_NODES, self.span);
            self.refused.get_or_insert_with(complaint);
        }
        self.refused.is_some()
    }

    fn emit(&mut self, stmt: Stmt) {
        self.block.push(stmt);
    }

    fn add(&mut self, expr: Expr) -> ExprId {
        self.program.add(expr, self.span)
    }

    fn literal(&mut self, value: Value) -> ExprId {
        self.add(Expr::Literal(value))
    }

    fn int(&mut self, value: i64) -> ExprId {
        self.literal(Value::I32(value as i32))
    }

    fn read(&mut self, var: VarId) -> ExprId {
        self.add(Expr::Read(var))
    }

    fn binary(&mut self, op: ir::BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        self.add(Expr::Binary(op, a, b))
    }

    fn builtin(&mut self, id: BuiltinId, args: Vec<ExprId>) -> ExprId {
        self.add(Expr::Builtin(id, args))
    }

    fn variable(&mut self, name: &str, ty: ir::Type, len: Len, kind: VarKind) -> VarId {
        self.text += name.len();
        self.program.add_var(Var {
            name: name.to_string(),
            doc: String::new(),
            ty,
            len,
            kind,
            word: 0,
            span: self.span,
        })
    }

    /// A variable that the model does not declare: its span is empty, so that passes may drop its name.
    fn made(&mut self, name: &str, ty: ir::Type, kind: VarKind) -> VarId {
        let var = self.variable(name, ty, Len::One, kind);
        self.program[var].span = Span::default();
        var
    }

    /// Names a value, so that it can be used more than once.
    fn bind(&mut self, name: &str, value: ExprId) -> VarId {
        let ty = self.program.type_of(value);
        let var = self.made(name, ty, VarKind::Let);
        if let Some(range) = self.range(value) {
            self.ranges.insert(var, range);
        }
        self.emit(Stmt::Let { var, value });
        var
    }

    /// Declares a local variable of one value.
    fn local(&mut self, name: &str, value: ExprId) -> VarId {
        let ty = self.program.type_of(value);
        let var = self.made(name, ty, VarKind::Local);
        self.emit(Stmt::Var {
            var,
            value: Some(value),
        });
        var
    }

    fn assign(&mut self, var: VarId, value: ExprId) {
        self.emit(Stmt::Assign { var, value });
        self.forget_low_part(var);
    }

    /// A loop over `start..end` around what `run` emits for its index.
    fn each(&mut self, name: &str, start: ExprId, end: ExprId, run: impl FnOnce(&mut Self, VarId)) {
        let index = self.variable(name, ir::Type::I32, Len::One, VarKind::Index);
        if let (Some((low, _)), Some((_, high))) = (self.range(start), self.range(end)) {
            self.ranges.insert(index, (low, (high - 1).max(low)));
        }
        let body = self.conditionally(|lowerer| run(lowerer, index));
        self.conditional |= stmt::stops(&body);
        self.emit(Stmt::For {
            index,
            start,
            end,
            body,
        });
    }

    fn ty(&self, id: hir::ExprId) -> &'a Type {
        &self.model[id].ty
    }
}
