//! Moves constant factors to where they are free: with `v = 10.0 * e`, `x + 0.5 * v` becomes `x + 5.0 * e`.
//!
//! A factor costs nothing where it meets another, or where an addition takes it in as a fused multiply–add;
//! the exponential's own is log2(e), as devices have `exp2` only. So:
//! * `k * (c * e)` is `(k * c) * e`, `c * p + d * q` is `c * (p + (d / c) * q)`, and `exp(c * e)` is
//!   `exp2((c * log2(e)) * e)`.
//! * A factor goes into a product or sum all of whose terms have a literal of their own. (Not into roots of
//!   such: that saves an instruction and costs time, see docs/performance.md.)
//! * A name `v = c * e` becomes one for `e`, and its reads become `c * v`.
//!
//! Invariant: values change only by some roundings, and a change is made only where it saves operations. An
//! addition is one operation, and so is a multiplication that no addition absorbs; a division by a literal is
//! a multiplication, `exp` is two, signs and uniform values (the step table may have them) are none, and any
//! other node is one. A name and all its readers are counted together, as a device sees them: it fuses `c *
//! e` into the additions that read `v` by itself. Factors are computed in `f64`, rounded once, and of
//! moderate size. Products of two values are not reassociated, as that might overflow. A sum that subtracts a
//! term again is there for its rounding, and stays.
//!
//! This is not a pass of the pipeline, as it changes roundings: a kernel's schedule asks for it.

use crate::{
    builtin::BuiltinId,
    ir::{
        BinaryOp, Block, Expr, ExprId, Program, Section, Stmt, Type, UnaryOp, Value, VarId, VarMap,
        uniformity::{Tracking, Uniformity},
    },
    kernel::analysis::{accumulators::Accumulators, free_sums::FreeSums},
    passes::rewrite::reads,
};
use std::{collections::HashMap, ops::RangeInclusive};

/// Magnitudes of factors that move, and of their products: intermediate values overflow or vanish only within
/// this much of the ends of the range.
const SIZES: RangeInclusive<f64> = 1.0 / 16_777_216.0..=16_777_216.0;
/// Nodes of a tree beyond which it stays as it is: every name in it requires a walk over the tree.
const LARGE: usize = 256;
/// Iterations over the names of a block, at most: where one loses its factor, others may follow.
const MAX_ITERATIONS: usize = 8;

/// Changes what pays; returns in how many places it did.
pub(crate) fn run(program: &mut Program) -> u32 {
    let mut factors = Factors {
        sums: FreeSums::new(program, Accumulators::blocks(program)),
        uniformity: Uniformity::new(program, Tracking::Names),
        reads: reads(program),
        exact: HashMap::new(),
        tried: None,
        written_out: None,
        refused: false,
        changed: 0,
    };
    program.each_section(|program, place, block| match place {
        Section::Function(_) | Section::Phase(_) => factors.block(program, block),
        // What runs once is not worth a rounding.
        Section::InputDefault(_)
        | Section::Init
        | Section::Prologue
        | Section::End(_)
        | Section::Sample(_)
        | Section::Finish => {}
    });
    factors.changed
}

/// An expression that is to be multiplied by a factor.
#[derive(Clone, Copy)]
struct Scaled {
    factor: f64,
    id: ExprId,
}

/// Alternative trees for one value, of which one becomes part of the program.
struct Forms {
    /// The value itself.
    bare: ExprId,
    /// The value without a factor that its user may multiply by instead.
    scaled: Option<Scaled>,
}

struct Factors {
    sums: FreeSums,
    uniformity: Uniformity,
    reads: VarMap<u32>,
    /// The values of this pass's literals before they are rounded.
    exact: HashMap<ExprId, f64>,
    /// A name that has tentatively lost its factor.
    tried: Option<(VarId, f64)>,
    /// A name that is counted as the product that it stands for.
    written_out: Option<VarId>,
    /// Is the tried name read where nothing may change?
    refused: bool,
    changed: u32,
}

impl Factors {
    fn block(&mut self, program: &mut Program, block: &mut Block) {
        for stmt in block.iter_mut() {
            stmt.map_roots(|root| {
                if is_large(program, root) {
                    return root;
                }
                let new = self.bare(program, root);
                let best = self.cheaper(program, root, new);
                self.changed += u32::from(best != root);
                best
            });
            for inner in stmt.blocks_mut() {
                stacker::maybe_grow(32 << 10, 1 << 20, || self.block(program, inner));
            }
        }
        let readers = readers(program, block);
        for _ in 0..MAX_ITERATIONS {
            let before = self.changed;
            for at in 0..block.len() {
                self.name(program, block, at, &readers);
            }
            if self.changed == before {
                break;
            }
        }
    }

    /// Removes the factor from a name whose readers are all in the same block, if that pays.
    fn name(&mut self, program: &mut Program, block: &mut Block, at: usize, readers: &Readers) {
        let Stmt::Let { var, value } = block[at] else {
            return;
        };
        let Some((count, readers)) = readers.get(&var) else {
            return;
        };
        let is_number =
            program[var].ty == Type::F32 && !self.uniformity.find(program, value).is_uniform();
        if !is_number || *count != self.reads[var] {
            return;
        }
        if is_large(program, value) {
            return;
        }
        let Some(scaled) = self.forms(program, value).scaled else {
            return;
        };
        (self.tried, self.refused) = (Some((var, scaled.factor)), false);
        let bare = self.count(program, scaled.id);
        let (mut shared, mut written_out, mut after) = (self.count(program, value), bare, bare);
        let mut changed = HashMap::new();
        for &reader in readers {
            for &root in block[reader].roots().iter() {
                if reads_name(program, root, var) {
                    if is_large(program, root) {
                        self.tried = None;
                        return;
                    }
                    let new = self.bare(program, root);
                    after += self.count(program, new);
                    changed.insert(root, new);
                    shared += self.count(program, root);
                    self.written_out = Some(var);
                    written_out += self.count(program, root);
                    self.written_out = None;
                }
            }
        }
        self.tried = None;
        if self.refused || after >= shared.min(written_out) {
            return;
        }
        self.changed += 1;
        program[var].name += "_unscaled";
        block[at].map_roots(|_| scaled.id);
        for &reader in readers {
            block[reader].map_roots(|root| *changed.get(&root).unwrap_or(&root));
        }
    }

    fn bare(&mut self, program: &mut Program, id: ExprId) -> ExprId {
        self.forms(program, id).bare
    }

    /// The cheapest trees for a value; the value's own, if none is cheaper.
    fn forms(&mut self, program: &mut Program, id: ExprId) -> Forms {
        if self.uniformity.find(program, id).is_uniform() {
            return plain(id);
        }
        if program.type_of(id) == Type::F32
            && let Some(forms) = self.forms_of_number(program, id)
        {
            return forms;
        }
        let mut expr = program[id].clone();
        let mut changed = false;
        expr.map_operands(|operand| {
            let new = self.bare(program, operand);
            changed |= new != operand;
            new
        });
        plain(if changed { add(program, id, expr) } else { id })
    }

    /// Those of a node that factors move through.
    fn forms_of_number(&mut self, program: &mut Program, id: ExprId) -> Option<Forms> {
        if let Some((factor, x)) = self.multiple(program, id) {
            return Some(self.product(program, id, factor, x));
        }
        if let Expr::Read(var) = program[id] {
            let (_, factor) = self.tried.filter(|(tried, _)| *tried == var)?;
            let bare = self.times(program, factor, id);
            let scaled = Some(Scaled { factor, id });
            return Some(Forms { bare, scaled });
        }
        if let Expr::Unary(UnaryOp::Negate, x) = program[id] {
            let inner = self.forms(program, x);
            let bare = with_operand(program, id, x, inner.bare);
            let scaled = inner.scaled.map(|it| Scaled {
                factor: -it.factor,
                ..it
            });
            return Some(Forms { bare, scaled });
        }
        if let Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Subtract), a, b) = program[id] {
            return Some(self.sum(program, id, op, [a, b]));
        }
        let Expr::Builtin(builtin, args) = &program[id] else {
            return None;
        };
        let (is_exp, first) = (*builtin == BuiltinId::EXP, *args.first()?);
        is_exp.then(|| plain(self.exponential(program, id, first)))
    }

    /// `c * x` and `x / c`.
    fn product(&mut self, program: &mut Program, id: ExprId, own: f64, x: ExprId) -> Forms {
        let inner = self.forms(program, x);
        let mut bare = with_operand(program, id, x, inner.bare);
        let mut scaled = Scaled {
            factor: own,
            id: inner.bare,
        };
        if let Some(inner) = inner.scaled
            && let Some(factor) = moderate(own * inner.factor)
        {
            let joint = self.times(program, factor, inner.id);
            bare = self.cheaper(program, bare, joint);
            if self.cheaper(program, scaled.id, inner.id) == inner.id {
                let id = inner.id;
                scaled = Scaled { factor, id };
            }
        }
        // Last, as an addition absorbs a product but not a sum.
        if let Some(pushed) = self.push(program, own, inner.bare) {
            bare = self.cheaper(program, bare, pushed);
        }
        let scaled = Some(scaled);
        Forms { bare, scaled }
    }

    fn sum(
        &mut self,
        program: &mut Program,
        id: ExprId,
        op: BinaryOp,
        sides: [ExprId; 2],
    ) -> Forms {
        if self.sums.takes_off(program, id) {
            self.refused |= (self.tried).is_some_and(|(var, _)| reads_name(program, id, var));
            return plain(id);
        }
        let [a, b] = sides.map(|side| self.forms(program, side));
        let mut bare = id;
        if [a.bare, b.bare] != sides {
            bare = add(program, id, Expr::Binary(op, a.bare, b.bare));
        }
        let mut scaled = None;
        if let (Some(a), Some(b)) = (a.scaled, b.scaled)
            && let Some(ratio) = moderate(b.factor / a.factor)
        {
            let b = self.times(program, ratio, b.id);
            let id = add(program, id, Expr::Binary(op, a.id, b));
            let factor = a.factor;
            let whole = self.times(program, factor, id);
            bare = self.cheaper(program, bare, whole);
            scaled = Some(Scaled { factor, id });
        }
        Forms { bare, scaled }
    }

    fn exponential(&mut self, program: &mut Program, id: ExprId, exponent: ExprId) -> ExprId {
        let log2_e = std::f64::consts::LOG2_E;
        let inner = self.forms(program, exponent);
        let mut best = with_operand(program, id, exponent, inner.bare);
        let mut exponents = Vec::from_iter(self.push(program, log2_e, inner.bare));
        if let Some(scaled) = inner.scaled
            && let Some(factor) = moderate(scaled.factor * log2_e)
        {
            exponents.push(self.times(program, factor, scaled.id));
        }
        for exponent in exponents {
            let power = add(program, id, Expr::Builtin(BuiltinId::EXP2, vec![exponent]));
            best = self.cheaper(program, best, power);
        }
        best
    }

    /// `factor * id` in the literals of that tree, if it has them where they are needed.
    fn push(&mut self, program: &mut Program, factor: f64, id: ExprId) -> Option<ExprId> {
        if let Some(number) = self.number(program, id) {
            let number = moderate(factor * number)?;
            return Some(self.literal(program, number, id));
        }
        if self.uniformity.find(program, id).is_uniform() || program.type_of(id) != Type::F32 {
            return None;
        }
        if let Some((own, x)) = self.multiple(program, id) {
            let factor = moderate(factor * own)?;
            return Some(self.times(program, factor, x));
        }
        if let Expr::Unary(UnaryOp::Negate, x) = program[id] {
            let pushed = self.push(program, factor, x)?;
            return Some(with_operand(program, id, x, pushed));
        }
        let Expr::Binary(op, a, b) = program[id] else {
            return None;
        };
        if op == BinaryOp::Divide {
            let pushed = self.push(program, factor, a)?;
            return Some(with_operand(program, id, a, pushed));
        }
        if op == BinaryOp::Multiply {
            let (operand, pushed) = [a, b].into_iter().find_map(|operand| {
                let pushed = self.push(program, factor, operand)?;
                Some((operand, pushed))
            })?;
            return Some(with_operand(program, id, operand, pushed));
        }
        let is_sum = matches!(op, BinaryOp::Add | BinaryOp::Subtract);
        if !is_sum || self.sums.takes_off(program, id) {
            return None;
        }
        let a = self.push(program, factor, a)?;
        let b = self.push(program, factor, b)?;
        Some(add(program, id, Expr::Binary(op, a, b)))
    }

    /// The value of a literal, if it may be a factor.
    fn number(&self, program: &Program, id: ExprId) -> Option<f64> {
        let Expr::Literal(Value::F32(number)) = program[id] else {
            return None;
        };
        let exact = self.exact.get(&id).copied();
        moderate(exact.unwrap_or_else(|| number.into()))
    }

    /// `c` and `x` of `c * x`, `x * c` and `x / c`.
    fn multiple(&self, program: &Program, id: ExprId) -> Option<(f64, ExprId)> {
        let Expr::Binary(op @ (BinaryOp::Multiply | BinaryOp::Divide), a, b) = program[id] else {
            return None;
        };
        let (factor, x) = if op == BinaryOp::Divide {
            (moderate(1.0 / self.number(program, b)?)?, a)
        } else if let Some(factor) = self.number(program, a) {
            (factor, b)
        } else {
            (self.number(program, b)?, a)
        };
        let is_value = !matches!(program[x], Expr::Literal(_) | Expr::Double(_));
        (is_value && program.type_of(x) == Type::F32).then_some((factor, x))
    }

    /// `factor * id`.
    fn times(&mut self, program: &mut Program, factor: f64, id: ExprId) -> ExprId {
        let expr = match factor as f32 {
            1.0 => return id,
            -1.0 => Expr::Unary(UnaryOp::Negate, id),
            _ => Expr::Binary(BinaryOp::Multiply, self.literal(program, factor, id), id),
        };
        add(program, id, expr)
    }

    fn literal(&mut self, program: &mut Program, number: f64, place: ExprId) -> ExprId {
        let id = add(program, place, Expr::Literal(Value::F32(number as f32)));
        self.exact.insert(id, number);
        id
    }

    /// The tree with fewer operations; the first of equals.
    fn cheaper(&mut self, program: &Program, a: ExprId, b: ExprId) -> ExprId {
        match self.count(program, b) < self.count(program, a) {
            true => b,
            false => a,
        }
    }

    /// The operations of a tree, as the head of this file counts them.
    fn count(&mut self, program: &Program, id: ExprId) -> u32 {
        if self.uniformity.find(program, id).is_uniform() {
            return 0;
        }
        let own = if let Expr::Read(var) = program[id] {
            u32::from(self.written_out == Some(var))
        } else if let Expr::Unary(UnaryOp::Negate, _) = program[id] {
            0
        } else if let Expr::Binary(BinaryOp::Add | BinaryOp::Subtract, a, b) = program[id] {
            let mut sides = [a, b].into_iter();
            let taken_in = program.type_of(id) == Type::F32
                && sides.any(|side| self.is_product(program, side));
            u32::from(!taken_in)
        } else {
            let is_exp =
                matches!(program[id], Expr::Builtin(builtin, _) if builtin == BuiltinId::EXP);
            1 + u32::from(is_exp)
        };
        let operands = program[id].operands();
        own + (operands.iter())
            .map(|&operand| self.count(program, operand))
            .sum::<u32>()
    }

    fn is_product(&mut self, program: &Program, id: ExprId) -> bool {
        if let Expr::Read(var) = program[id] {
            return self.written_out == Some(var);
        }
        if let Expr::Unary(UnaryOp::Negate, x) = program[id] {
            return self.is_product(program, x);
        }
        let is_product = matches!(program[id], Expr::Binary(BinaryOp::Multiply, ..))
            || self.multiple(program, id).is_some();
        is_product && !self.uniformity.find(program, id).is_uniform()
    }
}

/// Per name: how often the statements of a block read it, and which of them.
type Readers = HashMap<VarId, (u32, Vec<usize>)>;

fn readers(program: &Program, block: &Block) -> Readers {
    let mut readers = Readers::new();
    for (at, stmt) in block.iter().enumerate() {
        for id in program.nodes_of(stmt) {
            if let Expr::Read(var) = program[id] {
                let (count, stmts) = readers.entry(var).or_default();
                *count += 1;
                if stmts.last() != Some(&at) {
                    stmts.push(at);
                }
            }
        }
    }
    readers
}

fn reads_name(program: &Program, id: ExprId, var: VarId) -> bool {
    let mut nodes = program.nodes(id);
    nodes.any(|id| program[id] == Expr::Read(var))
}

/// A factor, if its size is moderate.
fn moderate(factor: f64) -> Option<f64> {
    SIZES.contains(&factor.abs()).then_some(factor)
}

/// Has a tree too many nodes to be analysed?
fn is_large(program: &Program, id: ExprId) -> bool {
    program.nodes(id).nth(LARGE).is_some()
}

fn plain(bare: ExprId) -> Forms {
    let scaled = None;
    Forms { bare, scaled }
}

/// A node with the same value as `place`.
fn add(program: &mut Program, place: ExprId, expr: Expr) -> ExprId {
    let span = program.span(place);
    program.add(expr, span)
}

/// The node `id` with another operand instead of `old`; itself, if that is the same.
fn with_operand(program: &mut Program, id: ExprId, old: ExprId, new: ExprId) -> ExprId {
    if old == new {
        return id;
    }
    let mut expr = program[id].clone();
    expr.map_operands(|operand| if operand == old { new } else { operand });
    add(program, id, expr)
}
