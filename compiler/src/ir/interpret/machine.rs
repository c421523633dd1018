//! Runs agents: what is run when, and the lanes in lock-step.

use super::{
    Fault, Interpreter, Progress,
    lane::{Flow, Lane, as_int, first_expression},
};
use crate::{
    builtin::{BuiltinId, eval, real::Real},
    ir::{BinaryOp, Block, Expr, ExprId, LaneOp, Stmt, Value, VarId},
    random::{FINISH_STEP, INIT_STEP},
};
use std::ops::Range;

/// Runs agents of one launch, one after another, with floats of type `R`. It asks `F` whether the run is
/// cancelled.
pub struct Machine<'a, F, R = f32> {
    interpreter: &'a Interpreter<'a>,
    /// At least one.
    pub(super) lanes: Vec<Lane<'a, F, R>>,
}

impl<'a, F: Fn() -> bool, R: Real> Machine<'a, F, R> {
    pub(super) fn new(interpreter: &'a Interpreter<'a>, lanes: Vec<Lane<'a, F, R>>) -> Self {
        Machine { interpreter, lanes }
    }

    /// Runs one agent over a range of steps: from `init` if the range starts at 0, otherwise from `states`
    /// and `progress`; up to `finish` if the range ends with the run. `inputs`, `states` and `outputs` are
    /// the agent's rows; `outputs` are written at the end of the run only. Each lane has rows of its own of
    /// states and outputs, one after another. Returns the new progress.
    ///
    /// # Errors
    /// What ended the run early.
    pub fn run(
        &mut self,
        agent: u32,
        steps: Range<u32>,
        progress: Progress,
        inputs: &[u32],
        states: &mut [u32],
        outputs: &mut [u32],
    ) -> Result<Progress, Fault> {
        let mut progress = progress;
        if steps.start == 0 {
            progress = Progress::default();
            self.begin(agent, Some(inputs), None)?;
        } else {
            self.begin(agent, Some(inputs), Some(states))?;
        }
        for step in steps.clone() {
            if progress.stopped {
                break;
            }
            progress.steps += 1;
            progress.stopped = self.step(step)?;
        }
        self.states(states);
        if steps.end == self.interpreter.values.steps {
            self.finish(outputs)?;
            self.states(states);
        }
        Ok(progress)
    }

    /// Begins with an agent: at its initialisation, or with its states. Without `inputs` it has those that
    /// its variables hold.
    pub(crate) fn begin(
        &mut self,
        agent: u32,
        inputs: Option<&[u32]>,
        states: Option<&[u32]>,
    ) -> Result<(), Fault> {
        let program = self.interpreter.program;
        for lane in &mut self.lanes {
            lane.begin_agent(agent);
            if let Some(inputs) = inputs {
                lane.load(&program.inputs, inputs);
            }
        }
        match states {
            Some(rows) => {
                let stride = rows.len() / self.lanes.len();
                for (number, lane) in self.lanes.iter_mut().enumerate() {
                    lane.load(&program.states, &rows[number * stride..]);
                }
            }
            None => {
                self.clear(&program.states);
                self.section(&program.init, INIT_STEP)?;
            }
        }
        self.section(&program.prologue, 0)?;
        Ok(())
    }

    /// Runs one step. Does the agent stop?
    pub(crate) fn step(&mut self, step: u32) -> Result<bool, Fault> {
        for lane in &mut self.lanes {
            lane.begin_step(step).ok_or(Fault::Cancelled)?;
        }
        for phase in &self.interpreter.program.phases {
            if self.section(phase, step)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Runs `finish` and stores the outputs.
    pub(crate) fn finish(&mut self, outputs: &mut [u32]) -> Result<(), Fault> {
        let program = self.interpreter.program;
        self.clear(&program.outputs);
        self.section(&program.finish, FINISH_STEP)?;
        self.store(&program.outputs, outputs);
        Ok(())
    }

    /// Stores the states.
    pub(crate) fn states(&mut self, states: &mut [u32]) {
        self.store(&self.interpreter.program.states, states);
    }

    /// Computes input number `input` of `program.input_defaults` for an agent, or for its world, and writes
    /// its words to the row of inputs.
    pub fn input_default(&mut self, input: usize, agent: u32, row: &mut [u32]) {
        let lane = &mut self.lanes[0];
        let vars = lane.input_default(input, agent);
        lane.store(&vars, row);
    }

    fn clear(&mut self, vars: &[VarId]) {
        for lane in &mut self.lanes {
            lane.clear(vars);
        }
    }

    fn store(&mut self, vars: &[VarId], rows: &mut [u32]) {
        let stride = rows.len() / self.lanes.len();
        for (number, lane) in self.lanes.iter_mut().enumerate() {
            lane.store(vars, &mut rows[number * stride..]);
        }
    }

    /// Runs a section of the program with the draws of that step. Does the agent stop?
    pub(super) fn section(&mut self, block: &'a Block, random_step: u32) -> Result<bool, Fault> {
        for lane in &mut self.lanes {
            lane.begin_draws(random_step);
        }
        let flow = match self.lanes.as_mut_slice() {
            [lane] => lane.block(block),
            _ => self.block(block)?,
        };
        match flow {
            Flow::Next => Ok(false),
            Flow::Stop => Ok(true),
            Flow::Cancelled => Err(Fault::Cancelled),
            Flow::Break | Flow::Continue | Flow::Return(_) => {
                panic!("internal error: a jump leaves the program")
            }
        }
    }

    /// Runs a block on all lanes, which leave it together.
    fn block(&mut self, block: &'a Block) -> Result<Flow<R>, Fault> {
        for stmt in block {
            match self.statement(stmt)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, stmt: &'a Stmt) -> Result<Flow<R>, Fault> {
        let plan = &self.interpreter.plan;
        let Some(first) = first_expression(stmt).filter(|&first| plan.in_lock_step(first)) else {
            return self.lane_by_lane(|lane| lane.statement(stmt));
        };
        self.evaluate(first);
        match stmt {
            Stmt::If { accept, reject, .. } => {
                let chosen = eval::truth(self.uniform()?);
                self.nested(if chosen { accept } else { reject })
            }
            Stmt::For { index, body, .. } => {
                let end = as_int(self.uniform()?);
                let start = as_int(self.uniform()?);
                self.iterations(*index, start..end, body)
            }
            Stmt::Let { .. }
            | Stmt::Var { .. }
            | Stmt::Assign { .. }
            | Stmt::AssignElement { .. }
            | Stmt::Break
            | Stmt::Continue
            | Stmt::Stop
            | Stmt::Return(_) => self.lane_by_lane(|lane| lane.effect(stmt)),
        }
    }

    fn iterations(
        &mut self,
        index: VarId,
        range: Range<i32>,
        body: &'a Block,
    ) -> Result<Flow<R>, Fault> {
        for k in range {
            for lane in &mut self.lanes {
                (lane.begin_iteration(index, k)).ok_or(Fault::Cancelled)?;
            }
            match self.nested(body)? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => break,
                other @ (Flow::Stop | Flow::Return(_) | Flow::Cancelled) => {
                    return Ok(other);
                }
            }
        }
        Ok(Flow::Next)
    }

    fn nested(&mut self, block: &'a Block) -> Result<Flow<R>, Fault> {
        stacker::maybe_grow(32 << 10, 1 << 20, || self.block(block))
    }

    /// Lets each lane do something, after which all must go on to the same statement.
    fn lane_by_lane(
        &mut self,
        act: impl Fn(&mut Lane<'a, F, R>) -> Flow<R>,
    ) -> Result<Flow<R>, Fault> {
        let flows: Vec<Flow<R>> = self.lanes.iter_mut().map(act).collect();
        match flows.iter().all(|flow| flow.is(&flows[0])) {
            true => Ok(flows[0]),
            false => Err(Fault::Diverged),
        }
    }

    /// Evaluates the expressions of a statement, node by node.
    fn evaluate(&mut self, first: ExprId) {
        let Interpreter { program, plan, .. } = self.interpreter;
        for &node in plan.nodes(first) {
            if let Expr::AcrossLanes { op, .. } | Expr::AcrossWorld { op, .. } = program[node] {
                let all = combined(op, &self.pop());
                self.lanes.iter_mut().for_each(|lane| lane.push(all));
            } else if let Expr::Shuffle { .. } = program[node] {
                let (asked, values) = (self.pop(), self.pop());
                for (lane, asked) in self.lanes.iter_mut().zip(asked) {
                    lane.push(values[as_int(asked) as usize]);
                }
            } else {
                self.lanes.iter_mut().for_each(|lane| lane.node(node));
            }
        }
    }

    /// Gives the first lane what all lanes have for a variable, combined.
    pub(super) fn combine(&mut self, var: VarId, op: LaneOp) {
        let parts: Vec<Value<R>> = self.lanes.iter().map(|lane| lane.value(var)).collect();
        self.lanes[0].set(var, combined(op, &parts));
    }

    /// The lanes' values of the last evaluated expression.
    fn pop(&mut self) -> Vec<Value<R>> {
        self.lanes.iter_mut().map(Lane::pop).collect()
    }

    /// The value of the last evaluated expression, which must be equal in all lanes.
    fn uniform(&mut self) -> Result<Value<R>, Fault> {
        let values = self.pop();
        match values.iter().all(|value| same(value, &values[0])) {
            true => Ok(values[0]),
            false => Err(Fault::Diverged),
        }
    }
}

/// The lanes' values combined as a tree: neighbours first, a last one without a neighbour stays.
pub(crate) fn combined<R: Real>(op: LaneOp, parts: &[Value<R>]) -> Value<R> {
    if let [one] = parts {
        return *one;
    }
    let (front, back) = parts.split_at(parts.len().next_power_of_two() / 2);
    let (a, b) = (combined(op, front), combined(op, back));
    match op {
        LaneOp::Sum => eval::binary(BinaryOp::Add, a, b),
        LaneOp::Product => eval::binary(BinaryOp::Multiply, a, b),
        LaneOp::Any => eval::binary(BinaryOp::Or, a, b),
        LaneOp::All => eval::binary(BinaryOp::And, a, b),
        LaneOp::Least => R::apply(BuiltinId::MIN, &[a, b]),
        LaneOp::Most => R::apply(BuiltinId::MAX, &[a, b]),
    }
}

/// Are these the same words?
pub(super) fn same<R: Real>(a: &Value<R>, b: &Value<R>) -> bool {
    a.map_floats(R::to_f64)
        .has_bits_of(&b.map_floats(R::to_f64))
}
