//! One lane of an agent: statements by recursion over blocks, expressions on a stack of values.

use super::{
    Interpreter, LaunchValues,
    machine::same,
    plan::{Place, Plan},
};
use crate::{
    builtin::{eval, real::Real},
    ir::{self, Block, Expr, ExprId, Owner, Program, Stmt, Value, Var, VarId},
    random::{FIRST_WORLD, Key},
};
use std::{ops::Range, sync::Arc};

/// How a statement ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Flow<R> {
    Next,
    Break,
    Continue,
    Stop,
    Return(Value<R>),
    Cancelled,
}

impl<R: Real> Flow<R> {
    /// Do lanes that end so go on to the same statement, with the same value?
    pub(super) fn is(&self, other: &Flow<R>) -> bool {
        match (self, other) {
            (Flow::Return(a), Flow::Return(b)) => same(a, b),
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        }
    }
}

/// Iterations of loops between two checks for cancellation.
const ITERATIONS: u32 = 1024;

/// A lane with its variables, whose floats are of type `R`.
pub(super) struct Lane<'a, F, R> {
    program: &'a Program,
    launch: &'a LaunchValues<'a>,
    plan: &'a Plan,
    number: u32,
    /// The values of all variables.
    values: Vec<Value<R>>,
    /// The operand stack.
    stack: Vec<Value<R>>,
    agent: u32,
    step: u32,
    agent_key: Key,
    step_key: Key,
    /// The keys of the draws of the agent's world.
    world_key: Key,
    world_step_key: Key,
    /// What the agents of the world have published, one after another.
    pub(super) others: Arc<Vec<Value<R>>>,
    /// Is the run cancelled?
    pub(super) cancelled: Option<F>,
    /// Is the agent alone in its world, or in its unit?
    alone: bool,
    iterations: u32,
    /// A hash of what was decided since it was last taken: see [`Lane::decide`].
    decisions: u64,
    /// By `VarId`, how often a `let`, a `var` or a loop gave it a value since the counts were last cleared.
    /// Empty where nobody counts.
    pub(super) counts: Vec<u32>,
}

impl<'a, F: Fn() -> bool, R: Real> Lane<'a, F, R> {
    /// A lane of an agent; one that combines no values with others is `alone`.
    pub(super) fn new(
        interpreter: &'a Interpreter<'a>,
        number: u32,
        alone: bool,
        cancelled: F,
    ) -> Self {
        let Interpreter {
            program,
            values,
            plan,
        } = interpreter;
        let mut lane = Lane {
            program,
            launch: values,
            plan,
            number,
            values: vec![Value::U32(0); plan.slots],
            stack: Vec::new(),
            agent: 0,
            step: 0,
            agent_key: Key::default(),
            step_key: Key::default(),
            world_key: Key::default(),
            world_step_key: Key::default(),
            others: Arc::default(),
            cancelled: Some(cancelled),
            alone,
            iterations: 0,
            decisions: 0,
            counts: Vec::new(),
        };
        lane.load(&program.params, values.uniform);
        for (var, elements) in &program.constants {
            for (slot, element) in lane.slots(*var).iter_mut().zip(elements) {
                *slot = element.map_floats(R::from_f64);
            }
        }
        lane
    }

    /// Becomes a lane of another agent.
    pub(super) fn begin_agent(&mut self, agent: u32) {
        // A run that ended early may have left operands.
        self.stack.clear();
        self.agent = agent;
        let LaunchValues {
            generator, seed, ..
        } = *self.launch;
        self.agent_key = generator.agent_key(seed, agent);
        self.world_key = generator.agent_key(seed, FIRST_WORLD | self.world());
    }

    /// The index of the agent's world.
    fn world(&self) -> u32 {
        self.agent / self.launch.members.max(1)
    }

    /// Adds the values that other agents read.
    pub(super) fn publish(&mut self, all: &mut Vec<Value<R>>) {
        let plan = self.plan;
        for &(var, _) in &plan.published {
            all.extend_from_slice(self.slots(var));
        }
    }

    /// The draws that follow are those of this step.
    pub(super) fn begin_draws(&mut self, random_step: u32) {
        let generator = self.launch.generator;
        self.step_key = generator.step_key(self.agent_key, random_step);
        self.world_step_key = generator.step_key(self.world_key, random_step);
    }

    /// What follows belongs to this step. `None` if the run was cancelled.
    pub(super) fn begin_step(&mut self, step: u32) -> Option<()> {
        self.step = step;
        self.look()
    }

    /// Begins an iteration of the loop with that index. `None` if the run was cancelled.
    pub(super) fn begin_iteration(&mut self, index: VarId, k: i32) -> Option<()> {
        *self.element(index, 0) = Value::I32(k);
        self.count(index);
        self.look()
    }

    fn look(&mut self) -> Option<()> {
        self.iterations = self.iterations.wrapping_add(1);
        let due = self.iterations.is_multiple_of(ITERATIONS);
        let cancelled = due && self.cancelled.as_ref().is_some_and(|cancelled| cancelled());
        (!cancelled).then_some(())
    }

    /// A float had a say in what is no float: a comparison, a conversion, a condition, the bounds of a loop.
    /// Two runs of an agent that decided the same in a step have the same hash. What the prelude decides does
    /// not count: its rejections are the same by construction.
    fn decide(&mut self, place: ExprId, outcome: u32) {
        if self.program.span(place).start < self.program.prelude {
            let mixed = self.decisions ^ (u64::from(place.0) << 32 | u64::from(outcome));
            self.decisions = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        }
    }

    /// The hash of what was decided since the last call.
    pub(super) fn take_decisions(&mut self) -> u64 {
        std::mem::take(&mut self.decisions)
    }

    fn count(&mut self, var: VarId) {
        if let Some(count) = self.counts.get_mut(var.0 as usize) {
            *count = count.saturating_add(1);
        }
    }

    pub(super) fn block(&mut self, block: &'a Block) -> Flow<R> {
        for stmt in block {
            match self.statement(stmt) {
                Flow::Next => {}
                other => return other,
            }
        }
        Flow::Next
    }

    pub(super) fn statement(&mut self, stmt: &'a Stmt) -> Flow<R> {
        if let Some(first) = first_expression(stmt) {
            let plan = self.plan;
            for &node in plan.nodes(first) {
                self.node(node);
            }
        }
        self.effect(stmt)
    }

    /// Does what a statement does whose expressions have been evaluated.
    pub(super) fn effect(&mut self, stmt: &'a Stmt) -> Flow<R> {
        match stmt {
            Stmt::Assign { var, .. } => {
                let value = self.pop();
                *self.element(*var, 0) = value;
            }
            Stmt::Let { var, .. }
            | Stmt::Var {
                var,
                value: Some(_),
            } => {
                let value = self.pop();
                *self.element(*var, 0) = value;
                self.count(*var);
            }
            Stmt::Var { var, value: None } => {
                self.clear(&[*var]);
                self.count(*var);
            }
            Stmt::AssignElement { var, .. } => {
                let value = self.pop();
                let index = as_int(self.pop());
                *self.element(*var, index) = value;
            }
            Stmt::If {
                condition,
                accept,
                reject,
            } => {
                let chosen = eval::truth(self.pop());
                self.decide(*condition, u32::from(chosen));
                return self.nested(if chosen { accept } else { reject });
            }
            Stmt::For {
                index,
                start: place,
                body,
                ..
            } => {
                let end = as_int(self.pop());
                let start = as_int(self.pop());
                self.decide(*place, end.wrapping_sub(start) as u32);
                return self.iterations(*index, start..end, body);
            }
            Stmt::Break => return Flow::Break,
            Stmt::Continue => return Flow::Continue,
            Stmt::Stop => return Flow::Stop,
            Stmt::Return(_) => return Flow::Return(self.pop()),
        }
        Flow::Next
    }

    fn iterations(&mut self, index: VarId, range: Range<i32>, body: &'a Block) -> Flow<R> {
        for k in range {
            if self.begin_iteration(index, k).is_none() {
                return Flow::Cancelled;
            }
            match self.nested(body) {
                Flow::Next | Flow::Continue => {}
                Flow::Break => break,
                other @ (Flow::Stop | Flow::Return(_) | Flow::Cancelled) => {
                    return other;
                }
            }
        }
        Flow::Next
    }

    /// Runs a nested block; a model may nest blocks deeper than a thread's stack allows.
    fn nested(&mut self, block: &'a Block) -> Flow<R> {
        stacker::maybe_grow(32 * 1024, 1024 * 1024, || self.block(block))
    }

    /// Replaces the operands of a node on the stack by its value.
    pub(super) fn node(&mut self, id: ExprId) {
        match &self.program[id] {
            Expr::Literal(value) => {
                let text = |single| R::literal(single, || self.program.literal_text(id));
                self.stack.push(value.map_floats(text));
            }
            Expr::Double(bits) => {
                self.stack
                    .push(Value::F32(R::from_f64(f64::from_bits(*bits))));
            }
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
            Expr::Binary(op, _, _) => {
                let of_floats = op.compares() && matches!(self.stack.last(), Some(Value::F32(_)));
                self.apply(2, |v| eval::binary(*op, v[0], v[1]));
                if of_floats {
                    self.decide_top(id);
                }
            }
            Expr::Select { condition, .. } => {
                let chosen = eval::truth(self.stack[self.stack.len() - 3]);
                self.decide(*condition, u32::from(chosen));
                self.apply(3, |v| eval::select(v[0], v[1], v[2]));
            }
            Expr::Convert { to, .. } => {
                let of_float = matches!(self.stack.last(), Some(Value::F32(_)));
                self.apply(1, |v| eval::convert(*to, v[0]));
                if of_float {
                    self.decide_top(id);
                }
            }
            Expr::Bitcast { to, .. } => self.apply(1, |v| eval::bitcast(*to, v[0])),
            Expr::Builtin(builtin, args) => {
                self.apply(args.len(), |args| R::apply(*builtin, args));
            }
            Expr::Call(function, _) => {
                let value = self.call(&self.program[*function]);
                self.stack.push(value);
            }
            Expr::Other { var, index, .. } => {
                let member = as_int(self.pop());
                let index = index.map_or(0, |_| as_int(self.pop()));
                let value = self.other(*var, index, member);
                self.stack.push(value);
            }
            // The value is the agent's own.
            Expr::AcrossWorld { .. } if self.alone => {}
            Expr::AcrossWorld { .. } => {
                panic!("internal error: agents are combined where each goes its own way")
            }
            Expr::RandomWord { owner, step, .. } => self.random_word(*owner, step.is_some()),
            Expr::AcrossLanes { .. } | Expr::Shuffle { .. } => {
                panic!("internal error: lanes are combined where each goes its own way")
            }
        }
    }

    /// Decides what the value on top of the stack is, unless it is a float.
    fn decide_top(&mut self, place: ExprId) {
        match self.stack.last() {
            Some(Value::Bool(outcome)) => self.decide(place, u32::from(*outcome)),
            Some(Value::I32(outcome)) => self.decide(place, *outcome as u32),
            Some(Value::U32(outcome)) => self.decide(place, *outcome),
            Some(Value::F32(_) | Value::Vec2(_) | Value::Vec3(_) | Value::Vec4(_)) | None => {}
        }
    }

    fn random_word(&mut self, owner: Owner, names_step: bool) {
        let generator = self.launch.generator;
        let (stream, of_step) = match owner {
            Owner::Agent => (self.agent_key, self.step_key),
            Owner::World => (self.world_key, self.world_step_key),
        };
        let key = match names_step {
            true => match self.pop() {
                Value::U32(step) => generator.step_key(stream, step),
                other => ill_typed(other),
            },
            false => of_step,
        };
        self.apply(1, |v| match v[0] {
            Value::U32(number) => Value::U32(generator.word(key, number)),
            other => ill_typed(other),
        });
    }

    fn call(&mut self, function: &'a ir::Function) -> Value<R> {
        for &param in function.params.iter().rev() {
            let value = self.pop();
            *self.element(param, 0) = value;
        }
        match self.nested(&function.body) {
            Flow::Return(value) => value,
            // The value is not used: the calling loop checks for cancellation next.
            Flow::Cancelled => eval::zero(function.result),
            Flow::Next | Flow::Break | Flow::Continue | Flow::Stop => {
                panic!("internal error: `{}` returns nothing", function.name)
            }
        }
    }

    pub(super) fn pop(&mut self) -> Value<R> {
        self.stack
            .pop()
            .expect("internal error: an operator lacks its operand")
    }

    pub(super) fn push(&mut self, value: Value<R>) {
        self.stack.push(value);
    }

    /// Replaces the top values of the stack by one.
    fn apply(&mut self, count: usize, f: impl FnOnce(&[Value<R>]) -> Value<R>) {
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
            ir::Launch::Member => (self.agent % self.launch.members.max(1)) as i32,
            ir::Launch::Members => self.launch.members as i32,
            ir::Launch::World => self.world() as i32,
            ir::Launch::Lane { .. } => self.number as i32,
        }
    }

    fn other(&self, var: VarId, index: i32, member: i32) -> Value<R> {
        let published = &self.plan.published;
        let place = published.iter().find(|(known, _)| *known == var);
        let (_, place) = place.expect("internal error: a value of another agent is not published");
        let count = match self.plan.places[var.0 as usize] {
            Place::Slots { count, .. } => count,
            Place::Table(_) => panic!("internal error: a table of another agent"),
        };
        let element = self.checked(var, index, count);
        let member = usize::try_from(member).unwrap_or(usize::MAX);
        assert!(
            member < self.launch.members as usize,
            "internal error: place {member} in a world of {}",
            self.launch.members
        );
        self.others[member * self.plan.published_values + place + element]
    }

    fn read(&self, var: VarId, index: i32) -> Value<R> {
        match self.plan.places[var.0 as usize] {
            Place::Slots { first, count } => self.values[first + self.checked(var, index, count)],
            Place::Table(number) => {
                let ty = self.program[var].ty;
                let words = self.launch.data[number];
                let width = self.program.words(ty) as usize;
                let first = self.checked(var, index, words.len() / width) * width;
                R::load(self.program.real, ty, &words[first..])
            }
        }
    }

    fn element(&mut self, var: VarId, index: i32) -> &mut Value<R> {
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
                self.program[var].name
            ),
        }
    }

    /// Sets variables to zeros.
    pub(super) fn clear(&mut self, vars: &[VarId]) {
        for &var in vars {
            let zero = eval::zero(self.program[var].ty);
            self.slots(var).fill(zero);
        }
    }

    /// Reads variables from the words of their row.
    pub(super) fn load(&mut self, vars: &[VarId], row: &[u32]) {
        self.load_given(vars, row, &[]);
    }

    /// The same of those values whose first words are `given`; of all where that says nothing.
    pub(super) fn load_given(&mut self, vars: &[VarId], row: &[u32], given: &[bool]) {
        let real = self.program.real;
        for &var in vars {
            let Var { ty, word, .. } = self.program[var];
            let (mut word, width) = (word as usize, ty.words_of(real) as usize);
            for slot in self.slots(var) {
                if given.get(word).copied().unwrap_or(given.is_empty()) {
                    *slot = R::load(real, ty, &row[word..]);
                }
                word += width;
            }
        }
    }

    /// Writes variables into the words of their row.
    pub(super) fn store(&mut self, vars: &[VarId], row: &mut [u32]) {
        let real = self.program.real;
        for &var in vars {
            let Var { ty, word, .. } = self.program[var];
            let (mut word, width) = (word as usize, ty.words_of(real) as usize);
            for slot in self.slots(var) {
                R::store(real, *slot, &mut row[word..]);
                word += width;
            }
        }
    }

    /// Computes input number `input` of `program.input_defaults` for an agent, or for its world: gives its
    /// variables their values, and says which ones these are.
    pub(super) fn input_default(&mut self, input: usize, agent: u32) -> Vec<VarId> {
        let program = self.program;
        let default = &program.input_defaults[input];
        let inputs = match default.owner {
            Owner::Agent => &program.inputs,
            Owner::World => &program.world_inputs,
        };
        let vars: Vec<VarId> = (inputs.iter().copied())
            .filter(|&var| default.is_of(&program[var].name))
            .collect();
        self.begin_agent(agent);
        self.begin_draws(default.random_step);
        self.clear(&vars);
        // Defaults of inputs are short: no need to cancel them.
        let cancelled = self.cancelled.take();
        self.block(&default.body);
        self.cancelled = cancelled;
        vars
    }

    /// The value of a variable that is no array.
    pub(super) fn value(&self, var: VarId) -> Value<R> {
        self.read(var, 0)
    }

    /// Sets a variable that is no array.
    pub(super) fn set(&mut self, var: VarId, value: Value<R>) {
        self.slots(var)[0] = value;
    }

    pub(super) fn slots(&mut self, var: VarId) -> &mut [Value<R>] {
        match self.plan.places[var.0 as usize] {
            Place::Slots { first, count } => &mut self.values[first..first + count],
            Place::Table(_) => panic!("internal error: a table has no slots"),
        }
    }
}

/// The first of a statement's expressions, which names the statement in the plan.
#[inline]
pub(super) fn first_expression(stmt: &Stmt) -> Option<ExprId> {
    match stmt {
        Stmt::Let { value: first, .. }
        | Stmt::Assign { value: first, .. }
        | Stmt::AssignElement { index: first, .. }
        | Stmt::If {
            condition: first, ..
        }
        | Stmt::For { start: first, .. }
        | Stmt::Return(first) => Some(*first),
        Stmt::Var { value, .. } => *value,
        Stmt::Break | Stmt::Continue | Stmt::Stop => None,
    }
}

pub(super) fn as_int<R: Real>(value: Value<R>) -> i32 {
    match value {
        Value::I32(x) => x,
        other => ill_typed(other),
    }
}

#[cold]
fn ill_typed<R: Real>(value: Value<R>) -> ! {
    panic!("internal error: the program has an ill-typed {value:?}")
}
