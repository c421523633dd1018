//! Moves constants into weights: they multiply loop-invariant weights once instead of an agent's values in
//! every step.
//!
//! A *weighted sum* is `b + x * v + y * w` with `b`, `v` and `w` that do not change during the time loop.
//! * `c * (b + x * v + y * w)` is `b' + x * v' + y * w'` with `b' = c * b` and so on; `exp` of it has such a
//!   factor, as devices have `exp2` only.
//! * Where few agents run and each step waits for its own values, and all readers of `h = p + q * g` multiply
//!   it by such a `w` in a sum, `h` becomes `g`, `w` becomes `q * w`, and the sum has `p * w` more, which
//!   does not change either. So `tanh(x)`, `1 - 2 / (e + 1)`, becomes `1 / (e + 1)`, and what is observed
//!   need not be scaled. (Where agents fill the device that saves an operation, too, but steps were
//!   slower: MountainCar in docs/performance.md.)
//! * There also: `b` plus a sum over an agent's lanes is a sum over its lanes, to which the first adds `b`.
//!
//! Invariant: values change only by some roundings. `c` and `q` are of moderate size, so intermediate values
//! overflow or vanish only at the ends of the range. A weight is changed only where no more values become
//! live: it has no other reader.
//!
//! Drivers would factor the new weights again, to save the multiplications before the loop, and make more of
//! them in it; so their names are [`Program::kept`].
//!
//! This is not a pass of the pipeline, as it changes roundings: a kernel's schedule asks for it. Later passes
//! must not inline names.

mod made;

use crate::{
    builtin::BuiltinId,
    ir::{
        BinaryOp, Block, Expr, ExprId, LaneOp, Len, Program, Stmt, Type, UnaryOp, Value, VarId,
        VarKind, VarMap, each_statement,
        uniformity::{Tracking, Uniformity},
    },
    kernel::{
        analysis::{free_sums::FreeSums, terms::terms},
        lane_layout::LaneLayout,
    },
    passes::{
        names,
        rewrite::{Cloner, reads},
    },
    span::Span,
};
use made::Made;
use std::{collections::HashMap, ops::RangeInclusive};

/// Magnitudes of constants that go into weights.
const SIZES: RangeInclusive<f64> = 1.0 / 1024.0..=1024.0;

/// Changes what pays, much or little by how many agents run; returns how many constants went into weights.
pub(crate) fn run(program: &mut Program, layout: &LaneLayout, few_agents: bool) -> u32 {
    (0..program.phases.len())
        .map(|phase| change(program, layout, phase, few_agents))
        .sum()
}

fn change(program: &mut Program, layout: &LaneLayout, phase: usize, few_agents: bool) -> u32 {
    let reads = reads(program);
    let mut step = std::mem::take(&mut program.phases[phase]);
    // Trees are changed in place, so they must not share subtrees.
    let copy = Cloner::default();
    each_stmt(&mut step, &mut |stmt| {
        stmt.map_roots(|root| copy.expr(program, root))
    });
    let mut weights = Weights::new(program, layout, &step, reads);
    let mut trees = Vec::new();
    each_statement(&step, &mut |stmt| trees.extend_from_slice(&stmt.roots()));
    if few_agents {
        for &root in &trees {
            weights.biases(program, root);
        }
        weights.affine(program, &lets(&step), &trees);
    }
    for &root in &trees {
        weights.factors(program, root, false);
    }
    program.phases[phase] = step;
    let changed = weights.changed;
    made::write_down(program, layout, weights.made);
    changed
}

/// A name for an affine function `offset + factor * g` of an expression.
#[derive(Clone, Copy)]
struct Affine {
    value: ExprId,
    offset: f64,
    factor: f64,
}

struct Weights {
    /// In the order of their creation; their names are the variables from number `before` on.
    made: Vec<(VarId, Made)>,
    before: usize,
    reads: VarMap<u32>,
    /// Per variable: is it a uniform number that is invariant in the time loop?
    fixed: VarMap<bool>,
    /// Names of the step that are defined once, and their values.
    values: HashMap<VarId, ExprId>,
    sums: FreeSums,
    uniformity: Uniformity,
    changed: u32,
}

impl Weights {
    fn new(program: &Program, layout: &LaneLayout, step: &[Stmt], reads: VarMap<u32>) -> Weights {
        let mut fixed = VarMap::filled(false, program.vars.len());
        let prologue = lets(&program.prologue).into_iter().map(|(var, _)| var);
        for var in program.inputs.iter().copied().chain(prologue) {
            fixed[var] = program[var].ty == Type::F32 && program[var].len == Len::One;
        }
        Weights {
            made: Vec::new(),
            before: program.vars.len(),
            reads,
            fixed,
            values: lets(step).into_iter().collect(),
            sums: FreeSums::new(program, [step]),
            uniformity: Uniformity::with(program, Tracking::Names, |var| {
                layout.part(program, var).is_some()
            }),
            changed: 0,
        }
    }

    /// Is it an invariant number with no other reader?
    fn weight(&self, program: &Program, id: ExprId) -> Option<VarId> {
        let Expr::Read(var) = program[id] else {
            return None;
        };
        (self.fixed[var] && self.reads[var] == 1).then_some(var)
    }

    /// A name of the step that is read once, and its value.
    fn own(&self, program: &Program, id: ExprId) -> Option<ExprId> {
        let Expr::Read(var) = program[id] else {
            return None;
        };
        let value = self.values.get(&var).copied();
        value.filter(|_| self.reads[var] == 1)
    }

    /// `b` plus a sum over lanes of a weighted sum.
    fn biases(&mut self, program: &mut Program, id: ExprId) {
        for &operand in program[id].operands().iter() {
            self.biases(program, operand);
        }
        let Expr::Binary(BinaryOp::Add, a, b) = program[id] else {
            return;
        };
        for (bias, sum) in [(a, b), (b, a)] {
            let whole = self.own(program, sum).unwrap_or(sum);
            if let Expr::AcrossLanes {
                op: LaneOp::Sum,
                lanes,
                value: part,
            } = program[whole]
                && let Some(name) = self.weight(program, bias)
                && !self.uniformity.of_var(name).by_lane
                && program.type_of(part) == Type::F32
                && self.takes_terms(program, part)
            {
                let span = program.span(bias);
                let made = Made::First {
                    bias: name,
                    factor: 1.0,
                };
                let first = self.name(program, name, "first", made);
                let first = program.add(Expr::Read(first), span);
                let part = with_first(program, part, first);
                program[whole] = Expr::AcrossLanes {
                    op: LaneOp::Sum,
                    lanes,
                    value: part,
                };
                program[id] = program[sum].clone();
                return;
            }
        }
    }

    /// Is it a product, or a sum that may take one more term?
    fn takes_terms(&self, program: &Program, id: ExprId) -> bool {
        if let Expr::Binary(BinaryOp::Add | BinaryOp::Subtract, ..) = program[id] {
            return self.sums.is_free(program, id);
        }
        matches!(program[id], Expr::Binary(BinaryOp::Multiply, ..))
    }

    /// Removes affine functions from their names.
    fn affine(&mut self, program: &mut Program, names: &[(VarId, ExprId)], trees: &[ExprId]) {
        let sums: Vec<ExprId> = (trees.iter())
            .flat_map(|&root| self.sums.of(program, root))
            .collect();
        // By name: the weights by which sums multiply it.
        let mut readers: HashMap<VarId, u32> = HashMap::new();
        for &sum in &sums {
            for (term, _) in terms(program, sum) {
                if let Some((name, _)) = self.weighted(program, term) {
                    *readers.entry(name).or_default() += 1;
                }
            }
        }
        let mut found: HashMap<VarId, Affine> = HashMap::new();
        for &(name, value) in names {
            let readers = readers.get(&name).copied().unwrap_or(0);
            if readers > 0
                && readers == self.reads[name]
                && let Some(affine) = self.affine_of(program, value)
            {
                found.insert(name, affine);
            }
        }
        for sum in sums {
            self.take(program, sum, &found);
        }
        for affine in found.values() {
            bare(program, affine.value);
        }
        self.changed += found.len() as u32;
    }

    /// The name and the weight of `h * w`.
    fn weighted(&self, program: &Program, id: ExprId) -> Option<(VarId, ExprId)> {
        let Expr::Binary(BinaryOp::Multiply, a, b) = program[id] else {
            return None;
        };
        [(a, b), (b, a)].into_iter().find_map(|(name, weight)| {
            self.weight(program, weight)?;
            let Expr::Read(name) = program[name] else {
                return None;
            };
            self.values.contains_key(&name).then_some((name, weight))
        })
    }

    /// `p + q * g` and `p - q * g`, where `q` may be a factor of a dividend, and `q * g`.
    fn affine_of(&self, program: &Program, value: ExprId) -> Option<Affine> {
        let (sign, offset, rest) = if matches!(program[value], Expr::Binary(BinaryOp::Multiply, ..))
        {
            (1.0, 0.0, value)
        } else {
            offset_of(program, value)?
        };
        let Expr::Binary(op @ (BinaryOp::Multiply | BinaryOp::Divide), a, b) = program[rest] else {
            return None;
        };
        let second = || number(program, b).filter(|_| op == BinaryOp::Multiply);
        let factor = number(program, a).or_else(second).unwrap_or(1.0);
        // A name whose sum absorbs the offset of another name may not lose its own.
        if self.weighted(program, rest).is_some() {
            return None;
        }
        let fits = |number: f64| SIZES.contains(&number.abs());
        let changes = fits(offset) || (offset == 0.0 && factor != 1.0);
        (changes && fits(factor)).then_some(Affine {
            value,
            offset,
            factor: sign * factor,
        })
    }

    /// Adds what names lose to a sum and its weights.
    fn take(&mut self, program: &mut Program, sum: ExprId, found: &HashMap<VarId, Affine>) {
        let mut more = Vec::new();
        let mut bias = None;
        for (term, negative) in terms(program, sum) {
            if bias.is_none()
                && !negative
                && let Some(var) = self.weight(program, term)
            {
                bias = Some((term, var));
            }
            let Some((name, weight)) = self.weighted(program, term) else {
                continue;
            };
            if let Some(affine) = found.get(&name) {
                self.scale(program, weight, affine.factor);
                let scaled = self.weight(program, weight).expect("it still is one");
                let sign = if negative { -1.0 } else { 1.0 };
                if affine.offset != 0.0 {
                    more.push((sign * affine.offset / affine.factor, scaled));
                }
            }
        }
        let Some(&(_, some)) = more.first() else {
            return;
        };
        let made = Made::Shifted {
            bias: bias.map(|(_, var)| var),
            factor: 1.0,
            more,
        };
        match bias {
            Some((place, var)) => {
                let shifted = self.name(program, var, "shifted", made);
                program[place] = Expr::Read(shifted);
            }
            None => {
                let offset = self.name(program, some, "offset", made);
                let first = program.add(Expr::Read(offset), Span::default());
                let old = program.add(program[sum].clone(), program.span(sum));
                let new = with_first(program, old, first);
                program[sum] = program[new].clone();
            }
        }
    }

    /// Finds `c * sum` where no addition absorbs the product, and `exp(sum)`, which is `exp2(log2(e) * sum)`.
    fn factors(&mut self, program: &mut Program, id: ExprId, taken_in: bool) {
        let is_exp = matches!(program[id], Expr::Builtin(which, _) if which == BuiltinId::EXP);
        let found = if is_exp {
            Some((program[id].operands()[0], std::f64::consts::LOG2_E))
        } else if let Expr::Binary(BinaryOp::Multiply, a, b) = program[id]
            && !taken_in
        {
            [(a, b), (b, a)].into_iter().find_map(|(constant, sum)| {
                let factor = number(program, constant)?;
                SIZES.contains(&factor.abs()).then_some((sum, factor))
            })
        } else {
            None
        };
        if let Some((sum, factor)) = found
            && program.type_of(id) == Type::F32
            && self.has_sum(program, sum)
            && self.may_scale(program, sum, factor, false)
        {
            self.scale(program, sum, factor);
            program[id] = match is_exp {
                true => Expr::Builtin(BuiltinId::EXP2, vec![sum]),
                false => program[sum].clone(),
            };
            self.changed += 1;
            return;
        }
        let adds = matches!(
            program[id],
            Expr::Binary(BinaryOp::Add | BinaryOp::Subtract, ..)
        );
        for &operand in program[id].operands().iter() {
            self.factors(program, operand, adds);
        }
    }

    /// Is this a sum, or bounded by `min` and its like?
    fn has_sum(&self, program: &Program, id: ExprId) -> bool {
        let value = self.own(program, id).unwrap_or(id);
        if let Expr::Unary(UnaryOp::Negate, a) = program[value] {
            return self.has_sum(program, a);
        }
        if let Expr::Builtin(which, args) = &program[value] {
            return BuiltinId::BOUNDS.contains(which) && self.has_sum(program, args[0]);
        }
        matches!(
            program[value],
            Expr::Binary(BinaryOp::Add | BinaryOp::Subtract, ..) | Expr::AcrossLanes { .. }
        )
    }

    /// Can a factor go into this expression, which is `inside` a sum or not, for free?
    fn may_scale(&self, program: &Program, id: ExprId, factor: f64, inside: bool) -> bool {
        if self.weight(program, id).is_some() || number(program, id).is_some() {
            return true;
        }
        if let Some(value) = self.own(program, id) {
            return self.may_scale(program, value, factor, false);
        }
        if let Expr::Unary(UnaryOp::Negate, a) = program[id] {
            self.may_scale(program, a, factor, inside)
        } else if let Expr::AcrossLanes { op, value, .. } = program[id] {
            op == LaneOp::Sum && self.may_scale(program, value, factor, false)
        } else if let Expr::Binary(BinaryOp::Add | BinaryOp::Subtract, a, b) = program[id] {
            (inside || self.sums.is_free(program, id))
                && self.may_scale(program, a, factor, true)
                && self.may_scale(program, b, factor, true)
        } else if let Expr::Binary(BinaryOp::Multiply, a, b) = program[id] {
            self.weight(program, a).is_some() || self.weight(program, b).is_some()
        } else if let Expr::Builtin(which, args) = &program[id] {
            // A negative factor would turn the minimum into the maximum.
            let stays = BuiltinId::BOUNDS.contains(which) && factor > 0.0;
            stays && (args.iter()).all(|&arg| self.may_scale(program, arg, factor, false))
        } else {
            false
        }
    }

    /// Multiplies what [`Weights::may_scale`] accepts by a factor.
    fn scale(&mut self, program: &mut Program, id: ExprId, factor: f64) {
        if let Some(var) = self.weight(program, id) {
            let number = (var.0 as usize).checked_sub(self.before);
            match number.map(|number| &mut self.made[number].1) {
                Some(
                    Made::First { factor: own, .. }
                    | Made::Scaled { factor: own, .. }
                    | Made::Shifted { factor: own, .. },
                ) => *own *= factor,
                None => {
                    let made = Made::Scaled {
                        weight: var,
                        factor,
                    };
                    let scaled = self.name(program, var, "scaled", made);
                    program[id] = Expr::Read(scaled);
                }
            }
        } else if let Some(old) = number(program, id) {
            program[id] = Expr::Literal(Value::F32((factor * old) as f32));
        } else if let Some(value) = self.own(program, id) {
            self.scale(program, value, factor);
        } else if let Expr::Binary(BinaryOp::Multiply, a, b) = program[id] {
            match self.weight(program, b) {
                Some(_) => self.scale(program, b, factor),
                None => self.scale(program, a, factor),
            }
        } else {
            for &operand in program[id].operands().iter() {
                self.scale(program, operand, factor);
            }
        }
    }

    /// A name for a value that is hoisted out of the time loop and read once.
    fn name(&mut self, program: &mut Program, of: VarId, what: &str, made: Made) -> VarId {
        let name = format!("{}_{what}", program[of].name);
        let var = names::fresh(program, name, Type::F32, VarKind::Let);
        self.made.push((var, made));
        self.reads.push(1);
        self.fixed.push(true);
        var
    }
}

fn each_stmt(block: &mut Block, change: &mut impl FnMut(&mut Stmt)) {
    for stmt in block {
        change(stmt);
        for inner in stmt.blocks_mut() {
            each_stmt(inner, change);
        }
    }
}

/// The names of a block's own statements and their values.
fn lets(block: &[Stmt]) -> Vec<(VarId, ExprId)> {
    let mut given = Vec::new();
    for stmt in block {
        if let Stmt::Let { var, value } = stmt {
            given.push((*var, *value));
        }
    }
    given
}

fn number(program: &Program, id: ExprId) -> Option<f64> {
    let Expr::Literal(Value::F32(number)) = program[id] else {
        return None;
    };
    Some(number.into())
}

/// A sum with one more term, which comes first.
fn with_first(program: &mut Program, sum: ExprId, first: ExprId) -> ExprId {
    let span = program.span(sum);
    let expr = if let Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Subtract), a, b) = program[sum] {
        Expr::Binary(op, with_first(program, a, first), b)
    } else {
        Expr::Binary(BinaryOp::Add, first, sum)
    };
    program.add(expr, span)
}

/// The sign of `r`, `p` and `r`, of `p + r`, `r + p` and `p - r`.
fn offset_of(program: &Program, value: ExprId) -> Option<(f64, f64, ExprId)> {
    let Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Subtract), a, b) = program[value] else {
        return None;
    };
    if op == BinaryOp::Subtract {
        Some((-1.0, number(program, a)?, b))
    } else if let Some(offset) = number(program, a) {
        Some((1.0, offset, b))
    } else {
        Some((1.0, number(program, b)?, a))
    }
}

/// `g` instead of `p + q * g`, or of `q * g`.
fn bare(program: &mut Program, value: ExprId) {
    let rest = offset_of(program, value).map_or(value, |(_, _, rest)| rest);
    let mut bare = program[rest].clone();
    if let Expr::Binary(op @ (BinaryOp::Multiply | BinaryOp::Divide), a, b) = bare {
        if number(program, a).is_some() && op == BinaryOp::Divide {
            let one = program.add(Expr::Literal(Value::F32(1.0)), program.span(rest));
            bare = Expr::Binary(BinaryOp::Divide, one, b);
        } else if number(program, a).is_some() {
            bare = program[b].clone();
        } else if number(program, b).is_some() && op == BinaryOp::Multiply {
            bare = program[a].clone();
        }
    }
    program.exprs[value.0 as usize] = bare;
}
