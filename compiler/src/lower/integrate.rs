//! `integrate`: the right-hand sides once per stage of the method, then all states at once.
//!
//! With k1 = f(x), h = dt:
//! * euler: x + h k1
//! * midpoint: x + h f(x + h/2 k1)
//! * heun: x + h/2 (k1 + f(x + h k1))
//! * rk4 (the classic one): x + h/6 (k1 + 2 k2 + 2 k3 + k4), k2 = f(x + h/2 k1), k3 = f(x + h/2 k2),
//!   k4 = f(x + h k3)
//!
//! where the last sum is one of two floats, see [`super::compensated`].

use super::Lowerer;
use crate::{
    hir::{self, Method, StateId, StmtKind},
    ir::{BinaryOp, ExprId, Value, VarId},
};

impl Lowerer<'_> {
    pub(super) fn integrate(&mut self, method: Method, dt: hir::ExprId, body: &[hir::Stmt]) {
        let dt = self.scalar(dt);
        let dt = self.bind("dt", dt);
        let states: Vec<StateId> = body
            .iter()
            .filter_map(|stmt| match &stmt.kind {
                StmtKind::Equation { state, .. } => Some(*state),
                _ => None,
            })
            .collect();
        self.checking.equations = (body.iter())
            .filter(|stmt| matches!(stmt.kind, StmtKind::Equation { .. }))
            .map(|stmt| stmt.span)
            .zip(states.iter().copied())
            .collect();
        let start: Vec<VarId> = states
            .iter()
            .map(|state| {
                let place = self.states[state.0 as usize].clone();
                let value = self.load(&place);
                self.bind(&self.model[*state].name.clone(), value)
            })
            .collect();
        let mut stages: Vec<Vec<VarId>> = Vec::new();
        // The position of each stage's slope, as a fraction of dt.
        let offsets: &[f32] = match method {
            Method::Euler => &[0.0],
            Method::Midpoint => &[0.0, 0.5],
            Method::Heun => &[0.0, 1.0],
            Method::Rk4 => &[0.0, 0.5, 0.5, 1.0],
        };
        for (number, &offset) in offsets.iter().enumerate() {
            let stage: Vec<VarId> = match stages.last() {
                None => start.clone(),
                Some(slopes) => {
                    let slopes = slopes.clone();
                    let step = self.scaled(dt, offset);
                    (0..states.len())
                        .map(|k| self.along(start[k], step, slopes[k], &states, k))
                        .collect()
                }
            };
            stages.push(self.slopes(body, &states, &stage, number + 1));
        }
        self.advance(method, dt, &states, &start, &stages);
        self.checking.equations.clear();
    }

    /// `dt * fraction`, named.
    fn scaled(&mut self, dt: VarId, fraction: f32) -> VarId {
        if fraction == 1.0 {
            return dt;
        }
        let (a, b) = (self.literal(Value::F32(fraction)), self.read(dt));
        let product = self.binary(BinaryOp::Multiply, a, b);
        self.bind("half_dt", product)
    }

    /// `start + step_length * slope`, named after the state.
    fn along(
        &mut self,
        start: VarId,
        step_length: VarId,
        slope: VarId,
        states: &[StateId],
        k: usize,
    ) -> VarId {
        let (step, by) = (self.read(step_length), self.read(slope));
        let offset = self.binary(BinaryOp::Multiply, step, by);
        let before = self.read(start);
        let value = self.binary(BinaryOp::Add, before, offset);
        let name = self.model[states[k]].name.clone();
        let value = self.checked_stage(value, states[k], [start, step_length, slope]);
        self.bind(&name, value)
    }

    /// The derivatives of all states at one stage.
    fn slopes(
        &mut self,
        body: &[hir::Stmt],
        states: &[StateId],
        stage: &[VarId],
        number: usize,
    ) -> Vec<VarId> {
        self.stage = states.iter().copied().zip(stage.iter().copied()).collect();
        let mut slopes = Vec::new();
        for stmt in body {
            let StmtKind::Equation { state, value } = &stmt.kind else {
                self.stmts(std::slice::from_ref(stmt));
                continue;
            };
            self.span = stmt.span;
            let value = self.scalar(*value);
            let name = format!("{}_k{number}", self.model[*state].name);
            slopes.push(self.bind(&name, value));
        }
        self.stage.clear();
        slopes
    }

    fn advance(
        &mut self,
        method: Method,
        dt: VarId,
        states: &[StateId],
        start: &[VarId],
        stages: &[Vec<VarId>],
    ) {
        let step = match method {
            Method::Euler | Method::Midpoint => dt,
            Method::Heun => self.scaled(dt, 0.5),
            Method::Rk4 => {
                let (dt, six) = (self.read(dt), self.literal(Value::F32(6.0)));
                let sixth = self.binary(BinaryOp::Divide, dt, six);
                self.bind("sixth_dt", sixth)
            }
        };
        for (k, state) in states.iter().enumerate() {
            let slope = match method {
                Method::Euler => self.read(stages[0][k]),
                Method::Midpoint => self.read(stages[1][k]),
                Method::Heun => {
                    let (a, b) = (self.read(stages[0][k]), self.read(stages[1][k]));
                    self.binary(BinaryOp::Add, a, b)
                }
                Method::Rk4 => {
                    self.rk4_slope([stages[0][k], stages[1][k], stages[2][k], stages[3][k]])
                }
            };
            let step = self.read(step);
            let offset = self.binary(BinaryOp::Multiply, step, slope);
            self.add_increment(*state, offset);
            let slopes: Vec<VarId> = stages.iter().map(|slopes| slopes[k]).collect();
            self.check_advance(*state, [start[k], dt], &slopes);
        }
    }

    /// `k1 + 2 k2 + 2 k3 + k4`
    fn rk4_slope(&mut self, [k1, k2, k3, k4]: [VarId; 4]) -> ExprId {
        let mut sum = self.read(k1);
        for middle in [k2, k3] {
            let (two, k) = (self.literal(Value::F32(2.0)), self.read(middle));
            let twice = self.binary(BinaryOp::Multiply, two, k);
            sum = self.binary(BinaryOp::Add, sum, twice);
        }
        let k4 = self.read(k4);
        self.binary(BinaryOp::Add, sum, k4)
    }
}
