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
mod flow;
mod fuse;
mod stmt;
mod variable;

use super::{
    isa::Isa,
    program::{Default, Instruction, Known, Program, Register, Rows, Slot, Stored, Table, Target},
};
use analysis::Analysis;
use sim_compiler::{
    ir::{self, Block, VarId},
    manifest::Manifest,
    random::Generator,
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
    /// Agents read one another, or worlds have values of their own.
    #[error("the vector machine does not run models with worlds")]
    Worlds,
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
struct Compiler<'p> {
    program: &'p ir::Program,
    analysis: Analysis,
    isa: Isa,
    generator: Generator,
    uniform_words: u32,
    code: Vec<Instruction>,
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
    scalars: Vec<u32>,
    /// Constants by their word.
    constants: HashMap<u32, Slot>,
    tables: Vec<Table>,
    rows: Vec<Rows>,
    /// Params that are `bool`.
    bools: Vec<Slot>,
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
    agent: Register,
    keys: [Register; 2],
    /// The key of the step, while a part with draws is compiled.
    step_key: Option<[Register; 2]>,
    draws: bool,
    alive: Option<Register>,
    too_large: bool,
}

/// Compiles a program that `ir::verify` accepts.
///
/// # Errors
/// If the code or the registers of a block are too large.
pub fn compile(
    program: &ir::Program,
    manifest: &Manifest,
    generator: Generator,
    isa: Isa,
) -> Result<Program, NotCompiled> {
    if program.has_worlds() || manifest.world.is_some() {
        return Err(NotCompiled::Worlds);
    }
    let mut compiler = Compiler::new(program, manifest, generator, isa);
    compiler.declare()?;
    let defaults = (program.input_defaults.iter())
        .map(|default| compiler.default_input(default))
        .collect();
    let init = compiler.part(&program.init);
    let stops = |block: &Block| ir::any_statement(block, &|stmt| matches!(stmt, ir::Stmt::Stop));
    let stops = program.phases.iter().any(|phase| stops(&phase.body));
    compiler.alive = stops.then(|| compiler.pin());
    let prologue = compiler.part(&program.prologue);
    compiler.keep(&program.prologue);
    let alive = compiler.alive;
    let phases = (program.phases.iter())
        .map(|phase| compiler.part_under(alive, phase))
        .collect();
    let finish = compiler.part(&program.finish);
    compiler.finish(defaults, phases, [init, prologue, finish])
}

impl<'p> Compiler<'p> {
    fn new(
        program: &'p ir::Program,
        manifest: &Manifest,
        generator: Generator,
        isa: Isa,
    ) -> Compiler<'p> {
        let scalars = manifest.uniform_words + Known::COUNT;
        let mut compiler = Compiler {
            program,
            analysis: Analysis::new(program),
            isa,
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
            scalars: vec![0; scalars as usize],
            constants: HashMap::new(),
            tables: Vec::new(),
            rows: Vec::new(),
            bools: Vec::new(),
            // Register 0 is never allocated.
            pinned: vec![true],
            mutable: vec![false],
            named: vec![false],
            angles: HashMap::new(),
            changing_scalars: HashSet::new(),
            agent: 0,
            keys: [0; 2],
            step_key: None,
            draws: false,
            alive: None,
            too_large: false,
        };
        compiler.agent = compiler.pin();
        compiler.keys = [compiler.pin(), compiler.pin()];
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
        self.step_key = self.draw_key(block);
        self.block(block);
        self.step_key = None;
        self.frames.pop();
        self.dropped_from = usize::MAX;
        self.place_label(end);
        self.code.push(Instruction::End);
        entry as Target
    }

    fn default_input(&mut self, default: &'p ir::InputDefault) -> Default {
        let belongs = |name: &str| {
            name.strip_prefix(default.input.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let vars: Vec<VarId> = (self.program.inputs.iter().copied())
            .filter(|&var| belongs(&self.program[var].name))
            .collect();
        Default {
            entry: self.part(&default.body),
            random_step: default.random_step,
            inputs: self.stored(&vars),
        }
    }

    fn finish(
        mut self,
        defaults: Vec<Default>,
        phases: Vec<Target>,
        [init, prologue, finish]: [Target; 3],
    ) -> Result<Program, NotCompiled> {
        if self.too_large {
            return Err(NotCompiled::TooLarge);
        }
        self.resolve_labels();
        let hot = *phases.first().unwrap_or(&finish) as usize..finish as usize;
        let places =
            allocate::allocate(&mut self.code, &self.parts, &self.loops, &self.pinned, hot);
        if places.count > MOST_REGISTERS {
            return Err(NotCompiled::TooLarge);
        }
        let at = |register: Register| places.of[register as usize];
        let moved = |mut stored: Vec<Stored>| {
            for word in &mut stored {
                word.register = at(word.register);
            }
            stored
        };
        let program = Program {
            isa: self.isa,
            generator: self.generator,
            defaults: (defaults.into_iter())
                .map(|default| Default {
                    inputs: moved(default.inputs),
                    ..default
                })
                .collect(),
            init,
            prologue,
            phases,
            finish,
            registers: places.count,
            staying: places.staying,
            uniform_words: self.uniform_words,
            inputs: moved(self.stored(&self.program.inputs)),
            states: moved(self.stored(&self.program.states)),
            outputs: moved(self.stored(&self.program.outputs)),
            agent: at(self.agent),
            keys: self.keys.map(at),
            draws: self.draws,
            alive: self.alive.map(at),
            code: self.code,
            scalars: self.scalars,
            tables: self.tables,
            rows: self.rows,
            bools: self.bools,
        };
        program.check();
        Ok(program)
    }
}

impl Parts {
    fn one(word: Operand) -> Parts {
        Parts {
            words: [word; 4],
            count: 1,
        }
    }

    fn from_slots(first: Slot, count: usize) -> Parts {
        Parts {
            words: std::array::from_fn(|k| Operand::Scalar(first + k.min(count - 1) as Slot)),
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
