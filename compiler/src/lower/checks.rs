//! Checks: code beside what a checked program computes, which finds where it goes wrong. It assigns hidden
//! variables of the agent, see [`crate::ir::checks`], and changes nothing else.
//!
//! An operation on floats is at fault where its result is NaN and none of its operands is, or where it is
//! infinite and all of them are finite. So what follows from a fault is none, nor is what follows from an
//! infinity that the model writes down or reads.

mod float;
mod values;

pub(super) use float::Operands;
pub(super) use values::{Held, Kept};

use super::Lowerer;
use crate::{
    builtin::{BuiltinId, Fold},
    hir::{self, StateId},
    ir::{
        BinaryOp, Block, Expr, ExprId, LaneOp, Launch, Owner, Stmt, Type, Value, VarId, VarKind,
        checks::{Check, CheckKind, NUMBER, Seen, VALUES, When},
    },
    manifest::Field,
    span::Span,
};

/// Words of values that each fault assigns at least. With number and time these are more variables than a
/// pass turns into choices, which would be evaluated whether there is a fault or not.
const FEWEST_VALUES: usize = 3;

/// What the lowerer knows about checks.
#[derive(Debug, Default)]
pub(super) struct Checking {
    /// Does the program check anything?
    pub(super) enabled: bool,
    /// Code around this place that is not to be checked: the compiler's own, or a copy.
    unchecked: u32,
    /// When the code at hand runs.
    pub(super) when: When,
    /// The input that the code at hand computes.
    pub(super) input: Option<usize>,
    /// By number of input: what keeps a fault of its default.
    of_inputs: Vec<(usize, Vec<VarId>)>,
    /// The equations of the `integrate` at hand.
    pub(super) equations: Vec<(Span, StateId)>,
    /// The number of samples so far, where what is sampled is checked.
    pub(super) samples: Option<VarId>,
}

impl Lowerer<'_> {
    /// Is the code at hand checked?
    pub(super) fn checks(&self) -> bool {
        self.checking.enabled && self.checking.unchecked == 0
    }

    /// Lowers code that is not checked.
    pub(super) fn unchecked<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        self.checking.unchecked += 1;
        let result = run(self);
        self.checking.unchecked -= 1;
        result
    }

    /// Notes a fault where a condition is true.
    pub(super) fn fault(&mut self, kind: CheckKind, span: Span, condition: ExprId, kept: &[Kept]) {
        let accept = self.nested(|lowerer| lowerer.note(kind, span, kept));
        let condition = self.guarded(condition);
        self.emit(Stmt::If {
            condition,
            accept,
            reject: Vec::new(),
        });
    }

    /// A condition that counts only where the filters of the folds around it let the agent pass.
    fn guarded(&mut self, mut condition: ExprId) -> ExprId {
        for guard in self.guards.clone() {
            let evaluated = self.read(guard);
            condition = self.binary(BinaryOp::And, evaluated, condition);
        }
        condition
    }

    /// Keeps a fault, unless there has been one.
    fn note(&mut self, kind: CheckKind, span: Span, kept: &[Kept]) {
        let number = self.program.checks.sites.len() as u32 + 1;
        if let CheckKind::Assertion { message } = &kind {
            self.text += message.len();
        }
        let mut values: Vec<ExprId> = Vec::new();
        let mut seen = Vec::new();
        for Kept { held, span, name } in kept {
            let ty = self.type_of_held(*held);
            values.extend(self.words_of(*held));
            seen.push(Seen {
                span: *span,
                name: name.clone(),
                ty,
            });
        }
        self.program.checks.sites.push(Check {
            kind,
            span,
            // Each agent evaluates the element that it is.
            owner: match self.in_elements {
                true => Owner::Agent,
                false => self.owner,
            },
            when: self.checking.when,
            values: seen,
        });
        while values.len() < FEWEST_VALUES {
            values.push(self.literal(Value::U32(0)));
        }
        let words = self.fault_words(VALUES + values.len());
        let time = self.time();
        let number = self.literal(Value::U32(number));
        let mut accept = Block::new();
        for (&var, value) in words.iter().zip([number, time].into_iter().chain(values)) {
            accept.push(Stmt::Assign { var, value });
        }
        let before = self.read(words[NUMBER]);
        let condition = self.is_zero(before);
        self.emit(Stmt::If {
            condition,
            accept,
            reject: Vec::new(),
        });
    }

    fn is_zero(&mut self, word: ExprId) -> ExprId {
        let zero = self.literal(Value::U32(0));
        self.binary(BinaryOp::Equal, word, zero)
    }

    /// When something happens, as a word: see [`crate::ir::checks::TIME`].
    fn time(&mut self) -> ExprId {
        match self.checking.when {
            When::Step => {
                let step = self.add(Expr::Launch(Launch::Step));
                self.bitcast(Type::U32, step)
            }
            When::Sample { .. } => {
                let samples = match self.checking.samples {
                    Some(samples) => samples,
                    None => {
                        let samples = self.hidden_state("samples", Type::U32, Owner::Agent);
                        self.program.checks.samples.push(samples);
                        *self.checking.samples.insert(samples)
                    }
                };
                self.read(samples)
            }
            When::Launch | When::Beginning | When::End => self.literal(Value::U32(0)),
        }
    }

    /// Counts a sample, after its code.
    pub(super) fn count_sample(&mut self) {
        if let Some(samples) = self.checking.samples.take() {
            let (before, one) = (self.read(samples), self.literal(Value::U32(1)));
            let value = self.binary(BinaryOp::Add, before, one);
            self.emit(Stmt::Assign {
                var: samples,
                value,
            });
        }
    }

    /// At least so many words that keep the first fault of the code at hand.
    fn fault_words(&mut self, count: usize) -> Vec<VarId> {
        let Some(input) = self.checking.input else {
            while self.program.checks.words.len() < count {
                let word = self.program.row_words(&self.program.states);
                let var = self.hidden("fault", VarKind::State, word);
                self.program.states.push(var);
                self.program.checks.words.push(var);
            }
            return self.program.checks.words.clone();
        };
        let mut words = match self.checking.of_inputs.last_mut() {
            Some((number, words)) if *number == input => std::mem::take(words),
            _ => {
                self.checking.of_inputs.push((input, Vec::new()));
                Vec::new()
            }
        };
        // The default of an input computes what is named like it.
        let name = format!("{}.fault", self.model.inputs[input].name);
        while words.len() < count {
            let var = match self.model.inputs[input].owner {
                Owner::Agent => {
                    let word = self.program.row_words(&self.program.inputs);
                    let var = self.hidden(&name, VarKind::Input, word);
                    self.program.inputs.push(var);
                    var
                }
                Owner::World => {
                    let word = self.program.row_words(&self.program.world_inputs);
                    let var = self.hidden(&name, VarKind::WorldInput, word);
                    self.program.world_inputs.push(var);
                    var
                }
            };
            words.push(var);
        }
        if let Some((_, kept)) = self.checking.of_inputs.last_mut() {
            kept.clone_from(&words);
        }
        words
    }

    fn hidden(&mut self, name: &str, kind: VarKind, word: u32) -> VarId {
        let var = self.made(name, Type::U32, kind);
        self.program[var].word = word;
        var
    }

    /// What the checks need around the model's own code: first values, with the faults of inputs, and outputs
    /// for the host.
    pub(super) fn finish_checks(&mut self) {
        let of_inputs = std::mem::take(&mut self.checking.of_inputs);
        let most = of_inputs.iter().map(|(_, words)| words.len()).max();
        self.checking.input = None;
        let words = self.fault_words(most.unwrap_or(0));
        let mut begin = Block::new();
        for &var in &words {
            let value = self.literal(Value::U32(0));
            begin.push(Stmt::Assign { var, value });
        }
        for (_, kept) in &of_inputs {
            let accept = self.nested(|lowerer| {
                for (&var, &from) in words.iter().zip(kept) {
                    let value = lowerer.read(from);
                    lowerer.emit(Stmt::Assign { var, value });
                }
            });
            let [earlier, own] = [words[NUMBER], kept[NUMBER]].map(|var| self.read(var));
            let (earlier, none) = (self.is_zero(earlier), self.is_zero(own));
            let own = self.not(none);
            let condition = self.binary(BinaryOp::And, earlier, own);
            begin.push(Stmt::If {
                condition,
                accept,
                reject: Vec::new(),
            });
        }
        self.program.init.splice(0..0, begin);
        for state in words {
            let word = self.program.row_words(&self.program.outputs);
            let var = self.hidden("fault", VarKind::Output, word);
            self.program.outputs.push(var);
            let value = self.read(state);
            self.program.finish.push(Stmt::Assign { var, value });
        }
    }

    /// The outputs of the checks, which follow those of the model.
    pub(super) fn fields_of_checks(&self) -> Vec<Field> {
        let first = self.program.outputs.len() - self.program.checks.words.len();
        let vars = self.program.outputs[first..].iter();
        vars.map(|&var| Field {
            name: self.program[var].name.clone(),
            doc: String::new(),
            scalar: crate::value::Scalar::U32,
            shape: Vec::new(),
            components: 1,
            variants: Vec::new(),
            word: self.program[var].word,
        })
        .collect()
    }

    /// An integer division: its operands, and whether they have a result.
    pub(super) fn check_division(&mut self, span: Span, [left, right]: [Kept; 2]) {
        let ty = self.type_of_held(right.held);
        let by = match right.held {
            Held::Literal(value) => Some(value),
            Held::Var(_) => None,
        };
        let mut condition = None;
        if by.is_none_or(|by| by == Value::zero(ty)) {
            let (divisor, zero) = (self.again(right.held), self.literal(Value::zero(ty)));
            condition = Some(self.binary(BinaryOp::Equal, divisor, zero));
        }
        if ty == Type::I32 && by.is_none_or(|by| by == Value::I32(-1)) {
            let [a, b] = [left.held, right.held].map(|held| self.again(held));
            let (least, minus_one) = (self.int(i32::MIN.into()), self.int(-1));
            let least = self.binary(BinaryOp::Equal, a, least);
            let by = self.binary(BinaryOp::Equal, b, minus_one);
            let too_large = self.binary(BinaryOp::And, least, by);
            condition = Some(match condition {
                Some(zero) => self.binary(BinaryOp::Or, zero, too_large),
                None => too_large,
            });
        }
        if let Some(condition) = condition {
            self.fault(CheckKind::Division, span, condition, &[left, right]);
        }
    }

    /// An index, as it is written, into something of a length.
    pub(super) fn check_index(&mut self, index: Kept, length: Held) {
        let as_i32 = |lowerer: &mut Self| {
            let index = lowerer.again(index.held);
            lowerer.signed(index)
        };
        let (a, zero) = (as_i32(self), self.int(0));
        let below = self.binary(BinaryOp::Less, a, zero);
        let (a, end) = (as_i32(self), self.again(length));
        let beyond = self.binary(BinaryOp::GreaterEqual, a, end);
        let condition = self.binary(BinaryOp::Or, below, beyond);
        let span = index.span;
        let length = Kept {
            held: length,
            span,
            name: "elements".to_owned(),
        };
        self.fault(CheckKind::Index, span, condition, &[index, length]);
    }

    /// The index of an agent of the world again, after the check that there is one.
    pub(super) fn checked_member(&mut self, index: ExprId, span: Span) -> ExprId {
        if !self.checks() {
            return index;
        }
        let index = self.hold(index);
        let members = self.add(Expr::Launch(Launch::Members));
        let members = self.hold(members);
        self.check_index(Kept::at(span, index), members);
        self.again(index)
    }

    /// An assertion, with the values that its condition compares or names.
    pub(super) fn assertion(&mut self, condition: hir::ExprId, message: &str) {
        let span = self.span;
        if !self.checks() {
            return;
        }
        let (holds, kept) = self.condition_with_values(condition);
        let failed = self.not(holds);
        let message = message.to_owned();
        self.fault(CheckKind::Assertion { message }, span, failed, &kept);
    }

    /// The limit of a `while`, for several uses; none is negative.
    pub(super) fn bound_of_checked(&mut self, limit: ExprId) -> Held {
        let none = self.int(0);
        let limit = self.builtin(BuiltinId::MAX, vec![limit, none]);
        self.hold(limit)
    }

    /// Where the loop of a checked `while` ends: one iteration later than its limit, in which it is checked.
    pub(super) fn end_of_checked(&mut self, bound: Held) -> ExprId {
        let (bound, most) = (self.again(bound), self.int(i64::from(i32::MAX) - 1));
        let bound = self.builtin(BuiltinId::MIN, vec![bound, most]);
        let one = self.int(1);
        self.binary(BinaryOp::Add, bound, one)
    }

    /// Ends a `while` at its limit: at fault where the condition still holds. A condition that draws is not
    /// evaluated again.
    pub(super) fn check_limit(
        &mut self,
        span: Span,
        [condition, limit]: [hir::ExprId; 2],
        bound: Held,
        round: VarId,
    ) {
        let accept = self.nested(|lowerer| {
            let goes_on = match lowerer.draws_in(condition) {
                true => lowerer.literal(Value::Bool(true)),
                false => lowerer.unchecked(|lowerer| lowerer.scalar(condition)),
            };
            let kept = Kept::at(lowerer.model[limit].span, bound);
            lowerer.fault(CheckKind::Limit, span, goes_on, &[kept]);
            lowerer.emit(Stmt::Break);
        });
        let (at, bound) = (self.read(round), self.again(bound));
        let condition = self.binary(BinaryOp::Equal, at, bound);
        self.emit(Stmt::If {
            condition,
            accept,
            reject: Vec::new(),
        });
    }

    fn draws_in(&self, id: hir::ExprId) -> bool {
        let model = self.model;
        let own = match &model[id].kind {
            hir::ExprKind::Draw(..)
            | hir::ExprKind::RandomWord(_)
            | hir::ExprKind::TakeWords(_) => true,
            hir::ExprKind::Call(function, _) => model[*function].draws,
            _ => false,
        };
        let operands = model.operands(id);
        own || stacker::maybe_grow(32 << 10, 1 << 20, || {
            operands.iter().any(|&operand| self.draws_in(operand))
        })
    }

    /// A draw of a float, checked; `args` are what its arguments were lowered to.
    pub(super) fn drawn(
        &mut self,
        value: ExprId,
        args: &[VarId],
        written: &[hir::ExprId],
    ) -> ExprId {
        if !self.checks() || !self.program.type_of(value).is_float() {
            return value;
        }
        let operands: Vec<Kept> = (args.iter().zip(written))
            .map(|(&var, &arg)| Kept::at(self.model[arg].span, Held::Var(var)))
            .collect();
        self.computed(value, &operands, Operands::Whole)
    }

    /// A state within a step of `integrate`, checked: what it began as, the length and the slope.
    pub(super) fn checked_stage(
        &mut self,
        value: ExprId,
        state: StateId,
        [start, dt, slope]: [VarId; 3],
    ) -> ExprId {
        let operands = self.of_integration(state, [start, dt], &[slope]);
        self.at_equation(state, |lowerer| {
            lowerer.computed(value, &operands, Operands::ByComponent)
        })
    }

    /// A state after a step of `integrate`, checked.
    pub(super) fn check_advance(&mut self, state: StateId, begin: [VarId; 2], slopes: &[VarId]) {
        if !self.checks() {
            return;
        }
        let place = self.states[state.0 as usize].clone();
        let value = self.load(&place);
        let operands = self.of_integration(state, begin, slopes);
        self.at_equation(state, |lowerer| {
            lowerer.computed(value, &operands, Operands::ByComponent)
        });
    }

    /// What an equation computes with, and its names.
    fn of_integration(
        &self,
        state: StateId,
        [start, dt]: [VarId; 2],
        slopes: &[VarId],
    ) -> Vec<Kept> {
        let name = &self.model[state].name;
        let kept = |var, name: String| Kept {
            held: Held::Var(var),
            span: self.equation(state),
            name,
        };
        let mut operands = vec![kept(start, name.clone()), kept(dt, "dt".to_owned())];
        operands.extend(slopes.iter().map(|&slope| kept(slope, format!("{name}'"))));
        operands
    }

    fn equation(&self, state: StateId) -> Span {
        let own = |(_, of): &&(Span, StateId)| *of == state;
        (self.checking.equations.iter().find(own)).map_or(self.span, |(span, _)| *span)
    }

    fn at_equation<T>(&mut self, state: StateId, run: impl FnOnce(&mut Self) -> T) -> T {
        let span = self.equation(state);
        let before = std::mem::replace(&mut self.span, span);
        let result = run(self);
        self.span = before;
        result
    }

    /// A fold of the world, checked: whether any element of it is not finite is combined, too.
    pub(super) fn check_fold(&mut self, fold: Fold, all: VarId, element: VarId) {
        let computes = matches!(fold, Fold::Sum | Fold::Product | Fold::Mean);
        if !self.checks() || !computes || !self.program[all].ty.is_float() {
            return;
        }
        let name = "any_not_finite";
        let own = self.any(Held::Var(element), Self::not_finite);
        let own = self.bind(name, own);
        let any = self.across(name, LaneOp::Any, own);
        let bad = self.any(Held::Var(all), Self::not_finite);
        let follows = self.read(any);
        let new = self.not(follows);
        let condition = self.binary(BinaryOp::And, bad, new);
        let span = self.span;
        let kept = Kept {
            held: Held::Var(all),
            span,
            name: "result".to_owned(),
        };
        self.fault(CheckKind::NotFinite, span, condition, &[kept]);
    }
}
