//! States that are integrated, as compensated sums of two floats.
//!
//! The increments of a small step are rounded away in a state's last digit, in the same direction each time.
//! So `integrate` adds them to a second float, `low`, which is hidden from the model, and a reader of the
//! state gets `state + low`, rounded. At intervals the sum of both is stored in the state, and its rounding
//! error stays in `low`: as in Kahan's compensated sums ("Further remarks on reducing truncation errors",
//! 1965), but not in every step, so that a step costs only one addition. Between two such points `low` holds
//! at most [`PERIOD`] increments and loses less than 2^-24 [`PERIOD`] of each.
//!
//! The points depend only on uniform numbers: the number of the step, or of the iteration of the loop that
//! integrates, and they precede each such loop.

use super::Lowerer;
use crate::{
    hir::{self, StateId, StmtKind},
    ir::{BinaryOp, Expr, ExprId, Launch, Stmt, Value, VarId, VarKind},
};

/// Steps or iterations between two such points, a power of 2.
const PERIOD: i64 = 16;

/// Whether the states integrated in inner loops are included.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loops {
    Inside,
    Outside,
}

impl Lowerer<'_> {
    /// A float beside each state that is integrated. They are laid out behind the model's own states, from
    /// `word` on.
    pub(super) fn declare_low_parts(&mut self, mut word: u32) {
        for (number, state) in self.model.states.iter().enumerate() {
            if !state.integrated {
                continue;
            }
            let var = self.states[number].leaves[0].var;
            let ty = self.program[var].ty;
            let low = self.made(&format!("{}_low", state.name), ty, VarKind::State);
            self.program[low].word = word;
            word += self.program.words(ty);
            self.program.states.push(low);
            self.low_parts.insert(var, low);
        }
    }

    /// The value of a variable, or what another agent has for it: for a state that is integrated the sum of
    /// both parts.
    pub(super) fn rounded(&mut self, var: VarId, other: Option<VarId>) -> ExprId {
        let read = |lowerer: &mut Self, var| match other {
            None => lowerer.read(var),
            Some(member) => lowerer.other(var, None, member),
        };
        let value = read(self, var);
        match self.low_parts.get(&var).copied() {
            Some(low) => {
                let low = read(self, low);
                self.binary(BinaryOp::Add, value, low)
            }
            None => value,
        }
    }

    /// What another agent has for a variable or one of its elements.
    pub(super) fn other(&mut self, var: VarId, index: Option<ExprId>, member: VarId) -> ExprId {
        let member = self.read(member);
        self.add(Expr::Other { var, index, member })
    }

    /// `integrate` adds to a state.
    pub(super) fn add_increment(&mut self, state: StateId, increment: ExprId) {
        let low = self.low_parts[&self.states[state.0 as usize].leaves[0].var];
        let before = self.read(low);
        let value = self.binary(BinaryOp::Add, before, increment);
        self.emit(Stmt::Assign { var: low, value });
    }

    /// A model assigns a state: the low part becomes 0. (Its zero may be of either sign.)
    pub(super) fn forget_low_part(&mut self, var: VarId) {
        if let Some(&low) = self.low_parts.get(&var) {
            let nothing = [(-0.0_f32).to_bits(); 4];
            let value = self.literal(Value::from_words(self.program[low].ty, &nothing));
            self.emit(Stmt::Assign { var: low, value });
        }
    }

    /// At the beginning of a step: for what is integrated outside its loops.
    pub(super) fn renormalise_in_step(&mut self) {
        let states: Vec<StateId> = (self.model.step.iter())
            .flat_map(|block| integrated(&block.body, Loops::Outside))
            .collect();
        let step = self.add(Expr::Launch(Launch::Step));
        self.renormalise_when(step, 0, states);
    }

    /// Before a loop, for what it integrates.
    pub(super) fn renormalise_before(&mut self, body: &[hir::Stmt]) {
        self.renormalise(integrated(body, Loops::Inside));
    }

    /// At the beginning of the body of a loop, for what is integrated outside its inner loops.
    pub(super) fn renormalise_in_loop(&mut self, index: VarId, body: &[hir::Stmt]) {
        let index = self.read(index);
        self.renormalise_when(index, PERIOD - 1, integrated(body, Loops::Outside));
    }

    /// After the last step, and after what `finish` integrates: a launch may ask for the state, and it holds
    /// the whole value from here on. (The low part of an infinite sum is NaN.)
    pub(super) fn renormalise_all(&mut self) {
        let states = (0..self.model.states.len() as u32).map(StateId);
        self.renormalise(states.collect());
        self.low_parts.clear();
    }

    fn renormalise_when(&mut self, number: ExprId, phase: i64, states: Vec<StateId>) {
        if states.is_empty() {
            return;
        }
        let mask = self.int(PERIOD - 1);
        let rest = self.binary(BinaryOp::BitAnd, number, mask);
        let phase = self.int(phase);
        let condition = self.binary(BinaryOp::Equal, rest, phase);
        let accept = self.nested(|lowerer| lowerer.renormalise(states));
        self.emit(Stmt::If {
            condition,
            accept,
            reject: Vec::new(),
        });
    }

    /// Stores the sums in the states, and their rounding errors in the low parts.
    fn renormalise(&mut self, mut states: Vec<StateId>) {
        states.sort_unstable_by_key(|state| state.0);
        states.dedup();
        for state in states {
            let var = self.states[state.0 as usize].leaves[0].var;
            let Some(&low) = self.low_parts.get(&var) else {
                continue;
            };
            let sum = self.rounded(var, None);
            let sum = self.bind(&format!("{}_sum", self.model[state].name), sum);
            let [end, start, before] = [sum, var, low].map(|var| self.read(var));
            let added = self.binary(BinaryOp::Subtract, end, start);
            let value = self.binary(BinaryOp::Subtract, before, added);
            self.emit(Stmt::Assign { var: low, value });
            let value = self.read(sum);
            self.emit(Stmt::Assign { var, value });
        }
    }
}

/// The states that statements integrate.
fn integrated(stmts: &[hir::Stmt], loops: Loops) -> Vec<StateId> {
    let mut found = Vec::new();
    collect(stmts, loops, &mut found);
    found
}

fn collect(stmts: &[hir::Stmt], loops: Loops, found: &mut Vec<StateId>) {
    for stmt in stmts {
        let mut inside = |body: &[hir::Stmt]| {
            stacker::maybe_grow(32 << 10, 1 << 20, || collect(body, loops, found));
        };
        match &stmt.kind {
            StmtKind::If {
                branches,
                otherwise,
            } => {
                branches.iter().for_each(|(_, body)| inside(body));
                otherwise.iter().for_each(|body| inside(body));
            }
            StmtKind::For { body, .. } | StmtKind::While { body, .. } => {
                if loops == Loops::Inside {
                    inside(body);
                }
            }
            StmtKind::Match { arms, .. } => arms.iter().for_each(|arm| inside(&arm.body)),
            StmtKind::Integrate { body, .. } | StmtKind::Block(body) => inside(body),
            StmtKind::Equation { state, .. } => found.push(*state),
            StmtKind::Declare { .. }
            | StmtKind::Assign { .. }
            | StmtKind::Return(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Stop
            | StmtKind::Assert { .. } => {}
        }
    }
}
