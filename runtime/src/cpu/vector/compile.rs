//! Compiles the IR to a program of the vector machine.
//!
//! A uniform value, which all agents of a block share, is a scalar; a varying value is a register of lanes.
//! Vectors are split into their components. Expressions are evaluated for all lanes, since they are pure and
//! total; only assignments are masked. Calls are inlined. See [`stmt`] for control flow and [`expr`] for
//! expressions.

mod allocate;
mod analysis;
mod builtin;
mod call;
mod emit;
mod expr;
mod fill;
mod flow;
mod fuse;
mod stmt;
mod variable;
mod world;

use super::{
    isa::Isa,
    jit::Jit,
    kernel::{LANES, Lane},
    program::{
        Default, Instruction, Known, Phase, Program, Published, Register, Rows, Sample, Slot,
        Stored, Stream, Table, Target, World,
    },
};
use analysis::Analysis;
use call::drawn_steps;
use sim_compiler::{
    RealType,
    ir::{self, Block, Owner, VarId},
    manifest::Manifest,
    random::Generator,
    value::Scalar,
};
use std::collections::{HashMap, HashSet};
use stmt::Frame;

/// The most instructions; larger programs, by inlining nested calls, run on the reference interpreter.
const MOST_INSTRUCTIONS: usize = 1 << 18;
/// The most registers of a block: 256 MiB.
const MOST_REGISTERS: u32 = 1 << 17;

/// Why there is no vector program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotCompiled {
    /// The code or the registers of a block are too large.
    #[error("the model is too large for the vector machine")]
    TooLarge,
}

/// A word of a value: a scalar or a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operand {
    Lanes(Register),
    Scalar(Slot),
}

/// The words of a value.
#[derive(Clone, Copy, Debug)]
struct Parts {
    words: [Operand; 4],
    count: usize,
}

/// The location of a variable.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// Not yet declared.
    Nowhere,
    /// A value that does not change.
    Value(Parts),
    /// Registers that are assigned; `frame` is the depth of frames at the declaration.
    Registers { first: Register, frame: usize },
    /// Scalars that are assigned.
    Scalars(Slot),
    /// An array of the agents, one register per word.
    Array { first: Register, frame: usize },
    /// A uniform table.
    Table(u32),
}

/// A loop in the code, for the lifetimes of registers.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    end: usize,
}

/// A program under construction.
struct Compiler<'p, L> {
    program: &'p ir::Program,
    analysis: Analysis,
    isa: Isa,
    generator: Generator,
    uniform_words: u32,
    code: Vec<Instruction<L>>,
    /// By label: its position in the code.
    labels: Vec<Target>,
    /// The first instruction of each part, in order; registers are allocated part by part.
    parts: Vec<usize>,
    loops: Vec<Span>,
    places: Vec<Place>,
    frames: Vec<Frame>,
    /// The outermost frame whose mask may have lost lanes since it was last tested.
    dropped_from: usize,
    /// The arguments of the calls being compiled.
    bound: Vec<(VarId, Parts)>,
    scalars: Vec<L>,
    /// Constants by their lane.
    constants: HashMap<L, Slot>,
    tables: Vec<Table>,
    rows: Vec<Rows>,
    /// Params that are not stored as lanes have them.
    params: Vec<(Slot, Scalar)>,
    /// By register: whether it is pinned for the whole run.
    pinned: Vec<bool>,
    /// By register: whether it is assigned after its first write.
    mutable: Vec<bool>,
    /// By register: whether a name refers to it.
    named: Vec<bool>,
    /// Sines and cosines in the current basic block, by the register of the angle.
    angles: HashMap<Register, usize>,
    /// Scalars that are assigned after they were first written.
    changing_scalars: HashSet<Slot>,
    agent: Stream,
    /// If the model speaks of worlds.
    world: Option<World>,
    /// Whether a block has agents of one world only.
    alone: bool,
    /// The keys of the step of agents and of worlds, while a part with their draws is compiled.
    step_keys: [Option<[Register; 2]>; 2],
    /// The names of steps that draws name.
    drawn_steps: HashSet<(Owner, VarId)>,
    /// The keys of those in scope.
    keys_of_names: HashMap<(Owner, VarId), [Register; 2]>,
    /// By variable that other agents read: the first column of its copies.
    columns: HashMap<VarId, u32>,
    /// The number of columns.
    column_count: u32,
    /// What the part at hand reads of other agents.
    reads: Vec<Published>,
    alive: Option<Register>,
    too_large: bool,
}

/// Compiles a program that `ir::verify` accepts, for launches with worlds of so many members: where a block
/// can have two of them, values of the world are a lane's own. It runs worlds of any size.
///
/// # Errors
/// If the code or the registers of a block are too large.
///
/// # Panics
/// If the program's floats are not those of the lanes.
pub fn compile<L: Lane>(
    program: &ir::Program,
    manifest: &Manifest,
    generator: Generator,
    isa: Isa,
    members: u32,
) -> Result<Program<L>, NotCompiled> {
    assert_eq!(
        program.real,
        L::REAL,
        "internal error: lanes of another width"
    );
    let mut compiler = Compiler::new(program, manifest, generator, isa);
    compiler.declare()?;
    let defaults = (program.input_defaults.iter())
        .map(|default| compiler.default_input(default))
        .collect();
    if program.has_worlds() && members as usize > LANES / 2 {
        compiler.alone = true;
        compiler.analysis.one_world();
    }
    let init = compiler.part(&program.init);
    let stops = |block: &Block| ir::any_statement(block, &|stmt| matches!(stmt, ir::Stmt::Stop));
    let stops = program.phases.iter().any(|phase| stops(&phase.body));
    compiler.alive = stops.then(|| compiler.pin());
    let prologue = compiler.part(&program.prologue);
    compiler.keep(&program.prologue);
    let phases = (program.phases.iter())
        .map(|phase| compiler.phase(phase.owner, compiler.alive, phase))
        .collect();
    let samples = (program.samples.iter())
        .map(|sample| compiler.phase(Owner::World, None, &sample.body))
        .collect();
    let ends = (program.ends.iter())
        .map(|phase| compiler.phase(phase.owner, None, phase))
        .collect();
    let finish = compiler.phase(Owner::Agent, None, &program.finish);
    compiler.finish(Entries {
        defaults,
        init,
        prologue,
        phases,
        samples,
        ends,
        finish,
    })
}

/// The parts of the code.
struct Entries {
    defaults: Vec<Default>,
    init: Target,
    prologue: Target,
    phases: Vec<Phase>,
    samples: Vec<Phase>,
    ends: Vec<Phase>,
    finish: Phase,
}

impl<'p, L: Lane> Compiler<'p, L> {
    fn new(
        program: &'p ir::Program,
        manifest: &Manifest,
        generator: Generator,
        isa: Isa,
    ) -> Compiler<'p, L> {
        let scalars = manifest.uniform_words + Known::COUNT;
        let mut compiler = Compiler {
            program,
            analysis: Analysis::new(program),
            isa: match L::REAL {
                RealType::F32 => isa,
                RealType::F64 => isa.of_doubles(),
            },
            generator,
            uniform_words: manifest.uniform_words,
            code: Vec::new(),
            labels: Vec::new(),
            parts: Vec::new(),
            loops: Vec::new(),
            places: vec![Place::Nowhere; program.vars.len()],
            frames: Vec::new(),
            dropped_from: usize::MAX,
            bound: Vec::new(),
            scalars: vec![L::ZERO; scalars as usize],
            constants: HashMap::new(),
            tables: Vec::new(),
            rows: Vec::new(),
            params: Vec::new(),
            // Register 0 is never allocated.
            pinned: vec![true],
            mutable: vec![false],
            named: vec![false],
            angles: HashMap::new(),
            changing_scalars: HashSet::new(),
            agent: Stream::NONE,
            world: None,
            alone: false,
            step_keys: [None; 2],
            drawn_steps: drawn_steps(program),
            keys_of_names: HashMap::new(),
            columns: HashMap::new(),
            column_count: 0,
            reads: Vec::new(),
            alive: None,
            too_large: false,
        };
        compiler.agent = compiler.stream();
        if manifest.world.is_some() || program.has_worlds() {
            compiler.world = Some(World {
                member: compiler.pin(),
                origin: compiler.pin(),
                stream: compiler.stream(),
            });
        }
        compiler
    }

    /// Compiles a part of the program that all lanes execute to its end.
    fn part(&mut self, block: &'p Block) -> Target {
        self.part_under(None, block)
    }

    /// Compiles a part of the program in which lanes can stop: they are removed from `alive`.
    fn part_under(&mut self, alive: Option<Register>, block: &'p Block) -> Target {
        let entry = self.code.len();
        self.parts.push(entry);
        let end = self.label();
        self.frames.push(Frame::root(alive, end));
        if let (Some(alive), true) = (alive, self.program.has_worlds()) {
            self.jump_if_none(alive, end);
        }
        self.step_keys = [Owner::Agent, Owner::World].map(|owner| self.draw_key(owner, block));
        self.block(block);
        self.step_keys = [None; 2];
        self.frames.pop();
        self.dropped_from = usize::MAX;
        self.place_label(end);
        self.code.push(Instruction::End);
        entry as Target
    }

    /// Compiles a phase. Agents that have stopped run those of the world, too.
    fn phase(&mut self, owner: Owner, alive: Option<Register>, block: &'p Block) -> Phase {
        let alive = alive.filter(|_| owner == Owner::Agent);
        Phase {
            entry: self.part_under(alive, block),
            owner,
            reads: std::mem::take(&mut self.reads),
        }
    }

    fn default_input(&mut self, default: &'p ir::InputDefault) -> Default {
        let vars: Vec<VarId> = (self.program.inputs.iter().copied())
            .filter(|&var| default.is_of(&self.program[var].name))
            .collect();
        Default {
            entry: self.part(&default.body),
            random_step: default.random_step,
            inputs: self.stored(&vars),
        }
    }

    fn finish(mut self, mut entries: Entries) -> Result<Program<L>, NotCompiled> {
        if self.too_large {
            return Err(NotCompiled::TooLarge);
        }
        self.resolve_labels();
        let mut after = (entries.phases.iter())
            .chain(&entries.samples)
            .chain(&entries.ends);
        let first = after.next().unwrap_or(&entries.finish).entry;
        let hot = first as usize..entries.finish.entry as usize;
        let places =
            allocate::allocate(&mut self.code, &self.parts, &self.loops, &self.pinned, hot);
        if places.count > MOST_REGISTERS || self.column_count > MOST_REGISTERS {
            return Err(NotCompiled::TooLarge);
        }
        entries.place(&places.of);
        let row = |vars: &[VarId]| {
            let mut stored = self.stored(vars);
            place(&places.of, &mut stored);
            stored
        };
        let program = Program {
            isa: self.isa,
            generator: self.generator,
            defaults: entries.defaults,
            init: entries.init,
            prologue: entries.prologue,
            phases: entries.phases,
            samples: (self.program.samples.iter().zip(entries.samples))
                .map(|(sample, phase)| Sample {
                    every: sample.every,
                    phase,
                    records: row(&sample.records),
                    world_records: (sample.world_records.iter())
                        .flat_map(|&var| {
                            let combined = sample.combined.iter().find(|(of, _)| *of == var);
                            let ty = self.program[var].ty;
                            let tree = combined.map(|&(_, op)| world::tree(op, ty));
                            row(&[var]).into_iter().map(move |stored| (stored, tree))
                        })
                        .collect(),
                })
                .collect(),
            ends: entries.ends,
            finish: entries.finish,
            registers: places.count,
            staying: places.staying,
            uniform_words: self.uniform_words,
            inputs: row(&self.program.inputs),
            states: row(&self.program.states),
            outputs: row(&self.program.outputs),
            world_inputs: row(&self.program.world_inputs),
            world_states: row(&self.program.world_states),
            world_outputs: row(&self.program.world_outputs),
            agent: self.agent.placed(&places.of),
            world: self.world.map(|world| world.placed(&places.of)),
            joint: self.program.has_worlds(),
            alone: self.alone,
            columns: self.column_count,
            alive: self.alive.map(|alive| places.of[alive as usize]),
            jit: Jit::Off,
            code: self.code,
            scalars: self.scalars,
            tables: self.tables,
            rows: self.rows,
            params: self.params,
        };
        program.check();
        Ok(program)
    }
}

/// Replaces registers by their locations.
fn place(of: &[Register], stored: &mut [Stored]) {
    for word in stored {
        word.register = of[word.register as usize];
    }
}

impl Entries {
    fn place(&mut self, of: &[Register]) {
        for default in &mut self.defaults {
            place(of, &mut default.inputs);
        }
        let phases = (self.phases.iter_mut())
            .chain(&mut self.samples)
            .chain(&mut self.ends);
        for phase in phases.chain([&mut self.finish]) {
            for read in &mut phase.reads {
                read.register = of[read.register as usize];
            }
        }
    }
}

impl Parts {
    fn one(word: Operand) -> Parts {
        Parts {
            words: [word; 4],
            count: 1,
        }
    }

    /// Every `stride`-th slot.
    fn from_slots(first: Slot, count: usize, stride: u32) -> Parts {
        let slot = |k: usize| first + k.min(count - 1) as Slot * stride;
        Parts {
            words: std::array::from_fn(|k| Operand::Scalar(slot(k))),
            count,
        }
    }

    fn from_registers(first: Register, count: usize) -> Parts {
        Parts {
            words: std::array::from_fn(|k| Operand::Lanes(first + k.min(count - 1) as Register)),
            count,
        }
    }

    fn as_slice(&self) -> &[Operand] {
        &self.words[..self.count]
    }
}
