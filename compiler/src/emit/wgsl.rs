//! The WGSL backend: one compute kernel that reads as if a person wrote it.
//!
//! The text has four parts: the bindings, the model's functions, `main` (after `prepare`, if the schedule
//! asks for it), and the support functions that the rest turned out to call. `manifest` defines the layout of
//! buffers, `ir` the meaning of a program.
//!
//! Invariant: no shader compiler may refuse the text or find undefined behaviour in it. WGSL evaluates
//! constant expressions early and refuses the module when one overflows, so no operator or builtin here has
//! only constant operands: one of them passes through an identity function (`runtime_f32`).

mod bindings;
mod builtin;
mod coarsening;
mod columns;
mod depth;
mod exchange;
mod expr;
mod flow;
mod function;
mod kernel;
mod lanes;
mod literal;
mod names;
mod operator;
mod origin;
mod points;
mod precise;
mod reserve;
mod reserved;
mod samples;
mod spill;
mod step_table;
mod stmt;
mod storage;
mod support;
mod time;
mod worlds;
mod wrap;

use crate::{
    builtin::BuiltinId,
    ir::{ExprId, FunctionMap, LaneOp, Len, Program, Type, VarId, VarKind, VarMap, names},
    kernel::{
        lane_layout::LaneLayout,
        limits::{self, Placement},
        per_step::PerStep,
        schedule::{self, Grid, Kernel, Schedule, When},
        step_table::Table,
        tailor::Tailored,
        time_loop::TimeLoop,
        usage::{LanePlace, Usage, usage},
        worlds::WorldLayout,
    },
    manifest::{Manifest, Scalar},
    options::{Math, Options},
    random::Generator,
};
use coarsening::Coarse;
use names::Names;
pub use origin::Origin;
pub(crate) use origin::origins;
use spill::Spilled;
use std::collections::{BTreeSet, HashMap, HashSet};
use support::Support;
use worlds::WorldNames;

/// The kernel's text: entry point `main`, bindings as in [`crate::manifest`], no optional capabilities.
pub(crate) fn wgsl(tailored: Tailored<'_>, manifest: &Manifest, options: &Options) -> Kernel {
    let mut writer = Writer::new(&tailored, manifest, options);
    let stages = writer.write();
    let (lanes, scratch) = (tailored.layout.lanes, writer.scratch());
    let points = writer.points();
    let (spill, constants) = (writer.spill(), writer.constant_tables());
    let spilled = writer.spill_decision();
    let (workgroup_size, workgroup_agents, workgroup_bytes) = writer.workgroup();
    let wgsl = writer.out;
    Kernel {
        wgsl,
        stages,
        scratch,
        schedule: tailored.schedule,
        obstacle: tailored.obstacle,
        lanes,
        workgroup_size,
        workgroup_agents,
        workgroup_bytes,
        step_table: tailored.table.map(|table| table.layout),
        points,
        spill,
        constants,
        decisions: tailored.decisions.into_iter().chain(spilled).collect(),
    }
}

/// The text so far, and what is known about the program.
struct Writer<'a> {
    program: &'a Program,
    manifest: &'a Manifest,
    generator: Generator,
    math: Math,
    schedule: Schedule,
    /// How agents are split over lanes.
    layout: &'a LaneLayout,
    /// How worlds lie in a workgroup, if agents know of them.
    world: Option<&'a WorldLayout>,
    /// The dispatches of a step, if it is several.
    per_step: Option<&'a PerStep>,
    /// The step table, if there is one.
    step_table: Option<&'a Table>,
    usage: Usage,
    /// Names of functions and variables.
    names: Names,
    /// The name of a variable, or of its member of `run`; empty before its declaration.
    var_names: VarMap<String>,
    function_names: FunctionMap<String>,
    /// Members of `run` that hold the lengths of open tables.
    rows_names: HashMap<VarId, String>,
    /// Loop indices that are never negative.
    natural: HashSet<VarId>,
    /// Functions that load an array element.
    accessors: HashMap<VarId, String>,
    /// Names of input values that are loaded once.
    input_names: HashMap<(VarId, LanePlace), String>,
    /// Names of rows of `inputs` that are loaded as a whole, by number.
    row_names: HashMap<LanePlace, String>,
    /// Does a variable live at module scope?
    private: VarMap<bool>,
    /// Arrays in storage.
    spilled: Spilled,
    /// The values of names, where elements of params are at places that follow from them.
    lets: HashMap<VarId, ExprId>,
    /// Whether the buffers of inputs, states and outputs are of `f32`.
    floats: Buffers<bool>,
    own: Own,
    /// The agents of an invocation.
    coarse: Coarse,
    /// Subtrees of the current statement that were too deep and have become `let`s.
    hoisted: HashMap<ExprId, String>,
    supports: BTreeSet<Support>,
    /// Builtins that WGSL lacks, with the type of their `T`.
    helpers: BTreeSet<(BuiltinId, u8)>,
    /// Precise functions that the text calls.
    precise: BTreeSet<&'static str>,
    time_loop: TimeLoop,
    /// Is a function of the model being written?
    in_function: bool,
    /// Is the innermost loop one in which the values of a world's agents are combined?
    in_common_loop: bool,
    /// Was a chain of `else if` cut in the current function?
    chain_cut: bool,
    out: String,
    indent: usize,
    line_start: usize,
    /// The map of the source, if it was asked for.
    origins: Option<Vec<Origin>>,
}

/// A value for each buffer of agents' rows.
#[derive(Clone, Copy)]
struct Buffers<T> {
    inputs: T,
    states: T,
    outputs: T,
}

/// Names of what the kernel itself declares in `main`.
#[derive(Default)]
struct Own {
    /// What holds the params, the seed and the number of agents of the run.
    launch: String,
    /// Private: which run of the dispatch this is, if it has several.
    point: String,
    slot: String,
    /// The agent's place in its run; that is `slot` where a dispatch has one run.
    place: String,
    row: String,
    lane: String,
    /// Is this one of the agents, where invocations beyond the last wait at barriers, too?
    is_agent: String,
    first_lane: String,
    agent: String,
    stream: String,
    key: String,
    step: String,
    steps_run: String,
    stopped: String,
    /// A private copy of `agent` for functions of the model that read it.
    function_agent: String,
    /// Workgroup memory, if some is reserved.
    reserved: String,
    /// The word before the row of the sample at hand.
    sample_row: String,
    /// The step whose sample has the first row of those that are kept; empty where each copy of a step in an
    /// iteration has the row of its number.
    first_kept: String,
    /// Which copy of a step in an iteration is written.
    copy: u32,
    world: WorldNames,
}

impl<'a> Writer<'a> {
    fn new(tailored: &'a Tailored<'_>, manifest: &'a Manifest, options: &Options) -> Self {
        let program: &Program = &tailored.program;
        let float = |scalar: &Scalar| *scalar == Scalar::F32;
        let in_place = tailored.world.is_none() && !tailored.layout.is_split();
        let placement = limits::place(program, tailored.schedule.array_bytes);
        let mut recorded = program.samples.iter().flat_map(|sample| &sample.records);
        let mut writer = Writer {
            program,
            manifest,
            generator: options.generator,
            math: options.math,
            schedule: tailored.schedule,
            step_table: tailored.table.as_ref(),
            layout: &tailored.layout,
            world: tailored.world.as_ref(),
            per_step: tailored.per_step.as_ref(),
            usage: usage(program, &tailored.layout),
            names: Names::new(),
            var_names: VarMap::filled(String::new(), program.vars.len()),
            function_names: FunctionMap::filled(String::new(), program.functions.len()),
            rows_names: HashMap::new(),
            natural: HashSet::new(),
            accessors: HashMap::new(),
            input_names: HashMap::new(),
            row_names: HashMap::new(),
            private: VarMap::filled(false, program.vars.len()),
            spilled: Spilled::new(program, &placement, in_place),
            lets: match program
                .params
                .iter()
                .any(|&param| program[param].len != Len::One)
            {
                true => program
                    .agent_blocks()
                    .flat_map(|block| names(block))
                    .collect(),
                false => HashMap::new(),
            },
            floats: Buffers {
                inputs: (program.inputs.iter()).all(|var| program[*var].ty.is_float()),
                // Phases that draw keep a count of their draws beside the model's own states.
                states: (program.states.iter()).all(|var| program[*var].ty.is_float())
                    && program.checks.words.is_empty(),
                outputs: (manifest.outputs.iter().all(|x| float(&x.scalar)))
                    && recorded.all(|var| program[*var].ty.is_float()),
            },
            own: Own::default(),
            coarse: Coarse::default(),
            hoisted: HashMap::new(),
            supports: BTreeSet::new(),
            helpers: BTreeSet::new(),
            precise: BTreeSet::new(),
            time_loop: tailored.time_loop,
            in_function: false,
            in_common_loop: false,
            chain_cut: false,
            out: String::with_capacity(4_096 + 24 * program.exprs.len()),
            indent: 0,
            line_start: 0,
            origins: None,
        };
        writer.name_module(&placement);
        if writer.has_barriers() {
            let skipped = writer.layout.skipped.iter();
            let tell = skipped.map(|(var, _)| (LaneOp::Sum, program[*var].ty));
            writer.usage.across.extend(tell);
        }
        writer
    }

    /// Writes the text; the entry points that a run dispatches.
    fn write(&mut self) -> Vec<schedule::Stage> {
        self.bindings();
        self.functions();
        self.fill_step_table();
        let stages = match self.per_step {
            Some(plan) => self.stages(plan),
            None => {
                self.main();
                let (_, agents, _) = self.workgroup();
                vec![schedule::Stage {
                    name: "main".to_owned(),
                    when: When::Range,
                    grid: Grid::Agents(agents),
                }]
            }
        };
        self.support();
        stages
    }

    /// Invocations and agents of a workgroup, and bytes of its memory that grow with worlds.
    fn workgroup(&self) -> (u32, u32, u64) {
        let agents = self.manifest.workgroup_size;
        match self.world {
            Some(_) if self.per_step.is_some() => {
                (agents.max(self.group_size()), agents, self.group_bytes())
            }
            Some(world) => (world.size(), world.agents(), world.bytes()),
            None => {
                let size = self.workgroup_size();
                let agents = size / self.layout.lanes * self.per_invocation();
                (size, agents, 0)
            }
        }
    }

    /// Names everything at module scope, in an order that depends on the model alone.
    fn name_module(&mut self, placement: &Placement) {
        let program = self.program;
        self.name_points();
        for &var in &program.data {
            self.declare(var);
        }
        for id in program.function_ids() {
            if self.usage.called[id] {
                self.function_names[id] = self.names.declare(&program[id].name);
            }
        }
        for (var, _) in &program.constants {
            if !self.spilled.has_table(*var) {
                self.declare(*var);
            }
        }
        for &var in &placement.private {
            self.private[var] = true;
            self.declare(var);
        }
        for &var in &placement.spilled {
            self.private[var] = true;
        }
        self.name_spill();
        self.name_members();
        for id in program.var_ids() {
            let var = &program[id];
            let row = matches!(
                var.kind,
                VarKind::Param | VarKind::Input | VarKind::WorldInput
            );
            let vectors = var.kind == VarKind::Data && var.ty.is_vector();
            let of_others = self
                .world
                .is_some_and(|layout| layout.exchange.inputs.contains(&id));
            let of_world = var.kind == VarKind::WorldInput && var.len != Len::One;
            let indexed = row && self.usage.dynamic[id]
                || vectors && self.usage.read[id] > 0
                || of_world && self.usage.read[id] > 0
                || of_others;
            if indexed {
                let name = self.names.declare(&format!("{}_at", var.name));
                self.accessors.insert(id, name);
            }
        }
        if self.usage.agent[1] {
            self.own.function_agent = self.names.declare("agent_number");
        }
        self.name_worlds();
        if self.schedule.reserve {
            self.own.reserved = self.names.declare("reserved");
        }
    }

    /// Gives a variable its name in the current scope.
    fn declare(&mut self, var: VarId) {
        self.var_names[var] = self.names.declare(&self.program[var].name);
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn push_number(&mut self, number: u32) {
        use std::fmt::Write;
        let _ = write!(self.out, "{number}");
    }

    fn push_name(&mut self, var: VarId) {
        self.out.push_str(&self.var_names[var]);
    }

    /// Begins a line at the current indent.
    fn begin(&mut self) {
        self.line_start = self.out.len();
        self.out.extend(std::iter::repeat_n(' ', 4 * self.indent));
    }

    /// Ends the line, and breaks it if it is long.
    fn end(&mut self, tail: &str) {
        self.out.push_str(tail);
        wrap::wrap(&mut self.out, self.line_start, 4 * self.indent);
        self.out.push('\n');
        self.end_origins();
    }

    /// A whole line.
    fn line(&mut self, text: &str) {
        self.begin();
        self.end(text);
    }

    /// A line after which the indent is one level deeper.
    fn open(&mut self, text: &str) {
        self.line(text);
        self.indent += 1;
    }

    /// A line before which the indent is one level less.
    fn close(&mut self, text: &str) {
        self.indent -= 1;
        self.line(text);
    }

    fn blank(&mut self) {
        if !self.out.ends_with("{\n") && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// The model's documentation as comments.
    fn doc(&mut self, doc: &str) {
        for line in doc.lines() {
            self.begin();
            self.out.push_str("//");
            let text = line.trim_end();
            if !text.is_empty() {
                self.out.push(' ');
                self.out.extend(text.chars().filter(|c| !ends_line(*c)));
            }
            self.out.push('\n');
        }
    }

    fn call(&mut self, support: Support) {
        self.supports.insert(support);
        self.out.push_str(support.name());
    }

    /// The type of a variable, arrays included.
    fn push_type(&mut self, ty: Type, len: Len) {
        match len {
            Len::One => self.push(literal::type_name(ty)),
            Len::Fixed(n) => {
                self.push("array<");
                self.push(literal::type_name(ty));
                self.push(", ");
                self.push_number(n);
                self.push(">");
            }
            Len::Open { .. } => unreachable!("only tables are open, and they lie in storage"),
        }
    }
}

/// Characters that end a `//` comment in WGSL, beside the line feed.
fn ends_line(c: char) -> bool {
    matches!(
        c,
        '\u{b}' | '\u{c}' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}
