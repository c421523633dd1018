//! Runs one agent: statements by recursion over blocks, expressions on a stack of values.

use super::{
    Control, Launch, Progress,
    plan::{Place, Plan},
};
use sim_compiler::builtin::eval;
use sim_compiler::ir::{self, Block, Expr, ExprId, Stmt, Type, Value, VarId};
use sim_compiler::random::{FINISH_STEP, INIT_STEP, Key};
use std::ops::Range;
use std::sync::atomic::Ordering;

/// How a statement ends.
enum Flow {
    Next,
    Break,
    Continue,
    Stop,
    Return(Value),
    Cancelled,
}

/// Loop iterations between two checks for cancellation.
const ROUNDS: u32 = 1024;

/// Runs agents of one launch, one after another.
pub struct Machine<'a> {
    launch: &'a Launch<'a>,
    plan: &'a Plan,
    /// The values of all variables.
    values: Vec<Value>,
    /// The operand stack.
    stack: Vec<Value>,
    agent: u32,
    step: u32,
    agent_key: Key,
    step_key: Key,
    control: Option<&'a Control>,
    rounds: u32,
}

impl<'a> Machine<'a> {
    pub(super) fn new(launch: &'a Launch<'a>, plan: &'a Plan) -> Self {
        let mut machine = Machine {
            launch,
            plan,
            values: vec![Value::U32(0); plan.slots],
            stack: Vec::new(),
            agent: 0,
            step: 0,
            agent_key: Key::default(),
            step_key: Key::default(),
            control: None,
            rounds: 0,
        };
        machine.load(&launch.program.params, launch.uniform);
        for (var, elements) in &launch.program.constants {
            machine.slots(*var).copy_from_slice(elements);
        }
        machine
    }

    /// The same, with checks for cancellation.
    pub(super) fn under(mut self, control: &'a Control) -> Self {
        self.control = Some(control);
        self
    }

    /// Runs one agent over a range of steps: from `init` if the range starts at 0, otherwise from `states`
    /// and `progress`; up to `finish` if the range ends with the run. `inputs`, `states` and `outputs` are
    /// the agent's rows; `outputs` are written at the end of the run only. Returns the new progress, or
    /// `None` if the run was cancelled.
    pub fn run(
        &mut self,
        agent: u32,
        steps: Range<u32>,
        progress: Progress,
        inputs: &[u32],
        states: &mut [u32],
        outputs: &mut [u32],
    ) -> Option<Progress> {
        let program = self.launch.program;
        self.agent = agent;
        self.agent_key = self.launch.generator.agent_key(self.launch.seed, agent);
        self.load(&program.inputs, inputs);
        let mut progress = progress;
        if steps.start == 0 {
            progress = Progress::default();
            self.clear(&program.states);
            self.phase(&program.init, INIT_STEP)?;
        } else {
            self.load(&program.states, states);
        }
        self.phase(&program.prologue, 0)?;
        for step in steps.clone() {
            if progress.stopped {
                break;
            }
            self.look()?;
            self.step = step;
            progress.steps += 1;
            for phase in &program.phases {
                progress.stopped = progress.stopped || self.phase(phase, step)?;
            }
        }
        self.store(&program.states, states);
        if steps.end == self.launch.steps {
            self.clear(&program.outputs);
            self.phase(&program.finish, FINISH_STEP)?;
            self.store(&program.states, states);
            self.store(&program.outputs, outputs);
        }
        Some(progress)
    }

    /// Computes input number `input` of `program.input_defaults` for an agent and writes its words to the
    /// agent's row of inputs.
    pub fn input_default(&mut self, input: usize, agent: u32, row: &mut [u32]) {
        let program = self.launch.program;
        let default = &program.input_defaults[input];
        self.agent = agent;
        self.agent_key = self.launch.generator.agent_key(self.launch.seed, agent);
        let belongs = |name: &str| {
            name.strip_prefix(default.input.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let vars: Vec<VarId> = (program.inputs.iter().copied())
            .filter(|&var| belongs(&program[var].name))
            .collect();
        self.clear(&vars);
        // Defaults of inputs are short: no need to cancel them.
        let control = self.control.take();
        self.phase(&default.body, default.random_step);
        self.control = control;
        self.store(&vars, row);
    }

    /// Runs a block of the program with the draws of that step. Returns whether the agent stopped, or `None`
    /// if the run was cancelled.
    fn phase(&mut self, block: &'a Block, random_step: u32) -> Option<bool> {
        self.step_key = self.launch.generator.step_key(self.agent_key, random_step);
        match self.block(block) {
            Flow::Next => Some(false),
            Flow::Stop => Some(true),
            Flow::Cancelled => None,
            Flow::Break | Flow::Continue | Flow::Return(_) => {
                panic!("internal error: a jump leaves the program")
            }
        }
    }

    /// `None` if the run was cancelled.
    fn look(&mut self) -> Option<()> {
        self.rounds = self.rounds.wrapping_add(1);
        let due = self.rounds.is_multiple_of(ROUNDS);
        let control = self.control.filter(|_| due);
        match control.is_some_and(|control| control.cancel.load(Ordering::Relaxed)) {
            true => None,
            false => Some(()),
        }
    }

    fn block(&mut self, block: &'a Block) -> Flow {
        for stmt in block {
            match self.statement(stmt) {
                Flow::Next => {}
                other => return other,
            }
        }
        Flow::Next
    }

    fn statement(&mut self, stmt: &'a Stmt) -> Flow {
        match stmt {
            Stmt::Let { var, value }
            | Stmt::Assign { var, value }
            | Stmt::Var {
                var,
                value: Some(value),
            } => {
                let value = self.eval(*value);
                *self.element(*var, 0) = value;
                Flow::Next
            }
            Stmt::Var { var, value: None } => {
                self.clear(&[*var]);
                Flow::Next
            }
            Stmt::AssignElement { var, index, value } => {
                let index = self.int(*index);
                let value = self.eval(*value);
                *self.element(*var, index) = value;
                Flow::Next
            }
            Stmt::If {
                condition,
                accept,
                reject,
            } => {
                let chosen = eval::truth(self.eval(*condition));
                self.nested(if chosen { accept } else { reject })
            }
            Stmt::For {
                index,
                start,
                end,
                body,
            } => {
                let (start, end) = (self.int(*start), self.int(*end));
                self.rounds_of(*index, start..end, body)
            }
            Stmt::Break => Flow::Break,
            Stmt::Continue => Flow::Continue,
            Stmt::Stop => Flow::Stop,
            Stmt::Return(value) => Flow::Return(self.eval(*value)),
        }
    }

    fn rounds_of(&mut self, index: VarId, range: Range<i32>, body: &'a Block) -> Flow {
        for k in range {
            if self.look().is_none() {
                return Flow::Cancelled;
            }
            *self.element(index, 0) = Value::I32(k);
            match self.nested(body) {
                Flow::Next | Flow::Continue => {}
                Flow::Break => break,
                other @ (Flow::Stop | Flow::Return(_) | Flow::Cancelled) => return other,
            }
        }
        Flow::Next
    }

    /// Runs a nested block; a model may nest blocks deeper than a thread's stack allows.
    fn nested(&mut self, block: &'a Block) -> Flow {
        stacker::maybe_grow(32 * 1024, 1024 * 1024, || self.block(block))
    }

    /// The value of an expression.
    fn eval(&mut self, root: ExprId) -> Value {
        let plan = self.plan;
        for &node in plan.tree(root) {
            self.node(&self.launch.program[node]);
        }
        self.pop()
    }

    fn int(&mut self, root: ExprId) -> i32 {
        as_int(self.eval(root))
    }

    /// Replaces the operands of a node on the stack by its value.
    fn node(&mut self, node: &'a Expr) {
        match node {
            Expr::Literal(value) => self.stack.push(*value),
            Expr::Launch(number) => self.stack.push(Value::I32(self.number(*number))),
            Expr::Rows(var) => match self.plan.places[var.0 as usize] {
                Place::Table(number) => self.stack.push(Value::I32(self.plan.rows[number])),
                Place::Slots { .. } => panic!("internal error: rows of what is no table"),
            },
            Expr::Read(var) => self.stack.push(self.read(*var, 0)),
            Expr::Element { array, .. } => {
                let index = as_int(self.pop());
                self.stack.push(self.read(*array, index));
            }
            Expr::Swizzle { components, .. } => {
                self.apply(1, |v| eval::swizzle(v[0], components));
            }
            Expr::Compose(parts) => self.apply(parts.len(), eval::compose),
            Expr::Splat { ty, .. } => self.apply(1, |v| eval::splat(*ty, v[0])),
            Expr::Unary(op, _) => self.apply(1, |v| eval::unary(*op, v[0])),
            Expr::Binary(op, _, _) => self.apply(2, |v| eval::binary(*op, v[0], v[1])),
            Expr::Select { .. } => self.apply(3, |v| eval::select(v[0], v[1], v[2])),
            Expr::Convert { to, .. } => self.apply(1, |v| eval::convert(*to, v[0])),
            Expr::Bitcast { to, .. } => self.apply(1, |v| eval::bitcast(*to, v[0])),
            Expr::Builtin(id, args) => self.apply(args.len(), id.row().pure().eval),
            Expr::Call(id, _) => {
                let value = self.call(&self.launch.program[*id]);
                self.stack.push(value);
            }
            Expr::RandomWord { .. } => {
                let (generator, key) = (self.launch.generator, self.step_key);
                self.apply(1, |v| match v[0] {
                    Value::U32(number) => Value::U32(generator.word(key, number)),
                    other => ill_typed(other),
                });
            }
            Expr::AcrossLanes { .. } => lanes(),
        }
    }

    fn call(&mut self, function: &'a ir::Function) -> Value {
        for &param in function.params.iter().rev() {
            let value = self.pop();
            *self.element(param, 0) = value;
        }
        match self.nested(&function.body) {
            Flow::Return(value) => value,
            // The value is not used: the calling loop checks for cancellation next.
            Flow::Cancelled => Value::zero(function.result),
            Flow::Next | Flow::Break | Flow::Continue | Flow::Stop => {
                panic!("internal error: `{}` returns nothing", function.name)
            }
        }
    }

    fn pop(&mut self) -> Value {
        self.stack
            .pop()
            .expect("internal error: an operator lacks its operand")
    }

    /// Replaces the top values of the stack by one.
    fn apply(&mut self, count: usize, f: impl FnOnce(&[Value]) -> Value) {
        let first = self.stack.len() - count;
        let value = f(&self.stack[first..]);
        self.stack.truncate(first);
        self.stack.push(value);
    }

    fn number(&self, number: ir::Launch) -> i32 {
        match number {
            ir::Launch::Agent => self.agent as i32,
            ir::Launch::Agents => self.launch.population as i32,
            ir::Launch::Steps => self.launch.steps as i32,
            ir::Launch::Step => self.step as i32,
            ir::Launch::Lane { .. } => lanes(),
        }
    }

    fn read(&self, var: VarId, index: i32) -> Value {
        match self.plan.places[var.0 as usize] {
            Place::Slots { first, count } => self.values[first + self.checked(var, index, count)],
            Place::Table(number) => {
                let ty = self.launch.program[var].ty;
                let words = self.launch.data[number];
                let count = words.len() / ty.components();
                let first = self.checked(var, index, count) * ty.components();
                Value::from_words(ty, &words[first..])
            }
        }
    }

    fn element(&mut self, var: VarId, index: i32) -> &mut Value {
        match self.plan.places[var.0 as usize] {
            Place::Slots { first, count } => {
                let index = self.checked(var, index, count);
                &mut self.values[first + index]
            }
            Place::Table(_) => panic!("internal error: a table is assigned"),
        }
    }

    fn checked(&self, var: VarId, index: i32, count: usize) -> usize {
        match usize::try_from(index) {
            Ok(index) if index < count => index,
            _ => panic!(
                "internal error: index {index} of `{}`, which has {count}",
                self.launch.program[var].name
            ),
        }
    }

    /// Sets variables to zeros.
    fn clear(&mut self, vars: &[VarId]) {
        for &var in vars {
            let zero = Value::zero(self.launch.program[var].ty);
            self.slots(var).fill(zero);
        }
    }

    /// Reads variables from the words of their row.
    fn load(&mut self, vars: &[VarId], row: &[u32]) {
        for &var in vars {
            let (ty, mut word) = self.layout(var);
            for slot in self.slots(var) {
                *slot = Value::from_words(ty, &row[word..]);
                word += ty.components();
            }
        }
    }

    /// Writes variables into the words of their row.
    fn store(&mut self, vars: &[VarId], row: &mut [u32]) {
        for &var in vars {
            let (_, mut place) = self.layout(var);
            for slot in self.slots(var) {
                for word in slot.words() {
                    row[place] = word;
                    place += 1;
                }
            }
        }
    }

    fn layout(&self, var: VarId) -> (Type, usize) {
        let var = &self.launch.program[var];
        (var.ty, var.word as usize)
    }

    fn slots(&mut self, var: VarId) -> &mut [Value] {
        match self.plan.places[var.0 as usize] {
            Place::Slots { first, count } => &mut self.values[first..first + count],
            Place::Table(_) => panic!("internal error: a table has no slots"),
        }
    }
}

fn as_int(value: Value) -> i32 {
    match value {
        Value::I32(x) => x,
        other => ill_typed(other),
    }
}

#[cold]
fn ill_typed(value: Value) -> ! {
    panic!("internal error: the program has an ill-typed {value:?}")
}

/// Only GPU kernels split an agent over several invocations.
fn lanes() -> ! {
    panic!("internal error: the interpreter got a program that is shared among lanes")
}
