//! What a program uses: one walk over everything that runs on the device, before a line is written.

use crate::ir::{Block, Expr, ExprId, FunctionId, Launch, Program, Stmt, Value, VarId, VarKind};
use std::collections::BTreeMap;

/// The answer.
pub(super) struct Usage {
    /// Assignments per variable, declarations not counted.
    pub assigned: Vec<u32>,
    /// Reads per variable, of elements too.
    pub read: Vec<u32>,
    /// Which arrays are indexed by something other than a literal.
    pub dynamic: Vec<bool>,
    /// The input values with a known place, in layout order.
    pub inputs: BTreeMap<InputValue, InputUse>,
    /// Which functions are called, from wherever.
    pub called: Vec<bool>,
    /// Whether `init`, `step` and `finish` draw.
    pub draws: [bool; 3],
    /// Whether the agent's number is read, at all and in functions.
    pub agent: [bool; 2],
    /// Whether the number of the step is read.
    pub step: bool,
    /// Whether a step can stop its agent.
    pub stops: bool,
}

/// One value of an input: the word at which it lies in the row, the variable, the element.
pub(super) type InputValue = (u32, VarId, u32);

/// How an input value is read.
#[derive(Default)]
pub(super) struct InputUse {
    count: u32,
    looped: bool,
}

impl InputUse {
    /// Is it worth a name, rather than a look into the buffer where it is read?
    pub(super) fn named(&self) -> bool {
        self.looped || self.count > 1
    }
}

/// Which part of the program a block belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Init,
    Prologue,
    Step,
    Finish,
    Function,
}

struct Walk<'a> {
    program: &'a Program,
    usage: Usage,
    part: Part,
    loops: u32,
    called: Vec<FunctionId>,
    pending: Vec<ExprId>,
}

/// Walks the program.
pub(super) fn usage(program: &Program) -> Usage {
    let vars = program.vars.len();
    let mut walk = Walk {
        program,
        usage: Usage {
            assigned: vec![0; vars],
            read: vec![0; vars],
            dynamic: vec![false; vars],
            inputs: BTreeMap::new(),
            called: vec![false; program.functions.len()],
            draws: [false; 3],
            agent: [false; 2],
            step: false,
            stops: false,
        },
        part: Part::Init,
        loops: 0,
        called: Vec::new(),
        pending: Vec::new(),
    };
    walk.block(&program.init);
    walk.part = Part::Prologue;
    walk.block(&program.prologue);
    walk.part = Part::Step;
    walk.loops = 1;
    walk.block(&program.step);
    walk.part = Part::Finish;
    walk.loops = 0;
    walk.block(&program.finish);
    walk.part = Part::Function;
    while let Some(id) = walk.called.pop() {
        walk.block(&program[id].body);
    }
    walk.usage
}

impl Walk<'_> {
    fn block(&mut self, block: &Block) {
        // Inlining nests blocks deeper than any model's text does.
        stacker::maybe_grow(32 << 10, 1 << 20, || self.statements(block));
    }

    fn statements(&mut self, block: &Block) {
        for stmt in block {
            match stmt {
                Stmt::Let { value, .. } | Stmt::Return(value) => self.expr(*value),
                Stmt::Var { value, .. } => {
                    if let Some(value) = value {
                        self.expr(*value);
                    }
                }
                Stmt::Assign { var, value } => {
                    self.usage.assigned[var.0 as usize] += 1;
                    self.expr(*value);
                }
                Stmt::AssignElement { var, index, value } => {
                    self.usage.assigned[var.0 as usize] += 1;
                    self.index(*var, *index);
                    self.expr(*value);
                }
                Stmt::If {
                    condition,
                    accept,
                    reject,
                } => {
                    self.expr(*condition);
                    self.block(accept);
                    self.block(reject);
                }
                Stmt::For {
                    start, end, body, ..
                } => {
                    self.expr(*start);
                    self.expr(*end);
                    self.loops += 1;
                    self.block(body);
                    self.loops -= 1;
                }
                Stmt::Break | Stmt::Continue => {}
                Stmt::Stop => self.usage.stops = true,
            }
        }
    }

    fn expr(&mut self, root: ExprId) {
        let program = self.program;
        self.pending.push(root);
        while let Some(id) = self.pending.pop() {
            match &program[id] {
                Expr::Literal(_) | Expr::Rows(_) => {}
                Expr::Launch(number) => self.launch(*number),
                Expr::Read(var) => {
                    self.usage.read[var.0 as usize] += 1;
                    self.input(*var, 0);
                }
                Expr::Element { array, index } => {
                    self.usage.read[array.0 as usize] += 1;
                    self.index(*array, *index);
                }
                Expr::Call(function, args) => {
                    self.pending.extend(args);
                    let seen = &mut self.usage.called[function.0 as usize];
                    if !std::mem::replace(seen, true) {
                        self.called.push(*function);
                    }
                }
                Expr::RandomWord { number } => {
                    self.pending.push(*number);
                    self.draw();
                }
                Expr::Swizzle { vector: one, .. }
                | Expr::Splat { value: one, .. }
                | Expr::Unary(_, one)
                | Expr::Convert { value: one, .. }
                | Expr::Bitcast { value: one, .. } => self.pending.push(*one),
                Expr::Compose(parts) | Expr::Builtin(_, parts) => self.pending.extend(parts),
                Expr::Binary(_, a, b) => self.pending.extend([a, b]),
                Expr::Select {
                    condition,
                    accept,
                    reject,
                } => self.pending.extend([condition, accept, reject]),
            }
        }
    }

    fn index(&mut self, array: VarId, index: ExprId) {
        if let Expr::Literal(Value::I32(k)) = self.program[index] {
            self.input(array, k as u32);
        } else {
            self.usage.dynamic[array.0 as usize] = true;
            self.pending.push(index);
        }
    }

    fn input(&mut self, id: VarId, element: u32) {
        let var = &self.program[id];
        if var.kind == VarKind::Input {
            let word = var.word + element * var.ty.components() as u32;
            let entry = self.usage.inputs.entry((word, id, element)).or_default();
            entry.count += 1;
            entry.looped |= self.loops > 0;
        }
    }

    fn launch(&mut self, number: Launch) {
        match number {
            Launch::Agent => {
                self.usage.agent[0] = true;
                self.usage.agent[1] |= self.part == Part::Function;
            }
            Launch::Step => self.usage.step = true,
            Launch::Agents | Launch::Steps => {}
        }
    }

    fn draw(&mut self) {
        match self.part {
            Part::Init => self.usage.draws[0] = true,
            Part::Step => self.usage.draws[1] = true,
            Part::Finish => self.usage.draws[2] = true,
            // The verifier allows none there: a draw depends on the step.
            Part::Prologue | Part::Function => {}
        }
    }
}

/// Does the block, or one within it, stop the agent?
pub(super) fn stops(block: &Block) -> bool {
    let stops = |block| stacker::maybe_grow(32 << 10, 1 << 20, || stops(block));
    block.iter().any(|stmt| match stmt {
        Stmt::Stop => true,
        Stmt::If { accept, reject, .. } => stops(accept) || stops(reject),
        Stmt::For { body, .. } => stops(body),
        Stmt::Let { .. }
        | Stmt::Var { .. }
        | Stmt::Assign { .. }
        | Stmt::AssignElement { .. }
        | Stmt::Break
        | Stmt::Continue
        | Stmt::Return(_) => false,
    })
}
