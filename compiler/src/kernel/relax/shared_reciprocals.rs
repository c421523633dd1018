//! Two divisions share one reciprocal: with `r = 1 / (d1 * d2)`, `n1 / d1` becomes `n1 * (r * d2)` and `n2 /
//! d2` becomes `n2 * (r * d1)`. GPUs compute reciprocals at a fraction (NVIDIA's at an eighth) of the rate of
//! products.
//!
//! Law: each quotient is what it was but for some roundings. `d1 * d2` neither overflows nor underflows,
//! whatever the launch, and neither is ever infinite (see [`crate::kernel::analysis::intervals`]); one that
//! may be NaN shares only with a quotient that is NaN then anyway, or that only the same sums read, as the
//! values of a network's layer: so neither spoils what the other one would not. The two stand in one block,
//! neither depends on the other, and a name for the first quotient moves down to the second over statements
//! that neither read it nor assign what it reads. Pairs only: groups of four need more registers, and
//! were slower.
//!
//! `tanh` and `sigmoid` contain a division, and so do small functions of a model: these are inlined first.
//!
//! This is not a pass of the pipeline, as it changes roundings: a kernel's schedule asks for it.

mod expand;

use crate::{
    ir::{
        BinaryOp, Block, Expr, ExprId, FunctionMap, Program, Section, Stmt, Type, UnaryOp, Value,
        VarId, VarKind,
        uniformity::{Tracking, Uniformity},
    },
    kernel::analysis::intervals::{Interval, Intervals},
    passes::names,
    span::Span,
};
use std::collections::HashMap;

/// Statements from one division to another, at most: values between them are live for longer by as much.
const NEAR: usize = 16;
/// Bounds of the product of two divisors: it and its reciprocal are normal numbers.
const LEAST: f64 = 1e-36;
const MOST: f64 = 4.3e37;
/// Dividends that two quotients have in common may be the reciprocal's dividend: it stays normal.
const COMMON: std::ops::RangeInclusive<f32> = 1.0..=64.0;

/// Shares what it can; returns how many pairs there are.
pub(crate) fn run(program: &mut Program) -> u32 {
    let mut search = Search::new(program, Use::Pairs);
    program.each_section(|program, place, block| match place {
        // Functions with more than one division are not rewritten themselves.
        Section::Function(_) | Section::InputDefault(_) | Section::Sample(_) => {}
        Section::Init
        | Section::Prologue
        | Section::Phase(_)
        | Section::End(_)
        | Section::Finish => {
            search.block(program, block);
        }
    });
    search.pairs
}

struct Search {
    quotients: Use,
    uniformity: Uniformity,
    intervals: Intervals,
    numbers: Intervals,
    /// Per function: is it inlined where it is called?
    expandable: FunctionMap<bool>,
    pairs: u32,
}

/// A division that may share its reciprocal.
#[derive(Clone, Copy)]
struct Site {
    /// The statement's number in its block.
    stmt: usize,
    id: ExprId,
    divisor: ExprId,
    interval: Interval,
    may_be_nan: bool,
}

/// Why quotients are written out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// To share reciprocals: products of divisors are finite.
    Pairs,
    /// Not for that; where the device respects infinities, a divisor may be infinite.
    Alone { has_infinities: bool },
}

/// Writes out the builtins and functions of the step that contain a division, for a device that respects
/// infinities or may not, and shares nothing; returns whether there is any.
pub(crate) fn write_out(program: &mut Program, has_infinities: bool) -> bool {
    let mut search = Search::new(program, Use::Alone { has_infinities });
    let mut written = false;
    program.each_phase(|program, block| written |= search.expand_all(program, block));
    written
}

impl Search {
    fn new(program: &Program, quotients: Use) -> Search {
        Search {
            quotients,
            uniformity: Uniformity::new(program, Tracking::Names),
            intervals: Intervals::new(program),
            numbers: Intervals::of_numbers(program),
            expandable: expand::functions(program),
            pairs: 0,
        }
    }

    fn expand_all(&mut self, program: &mut Program, block: &mut Block) -> bool {
        let mut written = self.expand(program, block);
        for stmt in block {
            for inner in stmt.blocks_mut() {
                written |=
                    stacker::maybe_grow(32 << 10, 1 << 20, || self.expand_all(program, inner));
            }
        }
        written
    }

    fn block(&mut self, program: &mut Program, block: &mut Block) {
        self.expand(program, block);
        let mut sites = Vec::new();
        for (at, stmt) in block.iter_mut().enumerate() {
            for &root in stmt.roots().iter() {
                self.sites(program, root, at, &mut sites);
            }
            if let Stmt::Let { var, value } = stmt {
                self.intervals.name(program, *var, *value);
                self.numbers.name(program, *var, *value);
                self.uniformity.name(program, *var, *value);
            }
            for inner in stmt.blocks_mut() {
                stacker::maybe_grow(32 << 10, 1 << 20, || self.block(program, inner));
            }
        }
        let mut pairs = Vec::new();
        let mut waiting: Option<Site> = None;
        let spread = Spread::new(program, block);
        for site in sites {
            waiting = match waiting {
                Some(first) if can_share(program, block, &spread, first, site) => {
                    pairs.push((first, site));
                    None
                }
                Some(_) | None => Some(site),
            };
        }
        self.pairs += pairs.len() as u32;
        share(program, block, &pairs);
    }

    /// Finds the divisions in a tree, in the order of evaluation.
    fn sites(&mut self, program: &Program, id: ExprId, stmt: usize, sites: &mut Vec<Site>) {
        for &operand in program[id].operands().iter() {
            self.sites(program, operand, stmt, sites);
        }
        if let Some((_, divisor)) = quotient(program, id)
            && let Some(interval) = self.numbers.of(program, divisor)
            && interval.is_finite()
            && (interval.low > 0.0 || interval.high < 0.0)
            && !self.uniformity.find(program, divisor).is_uniform()
        {
            sites.push(Site {
                stmt,
                id,
                divisor,
                interval,
                may_be_nan: self.intervals.of(program, divisor).is_none(),
            });
        }
    }
}

/// The operands of a division of numbers, except those by literals, which devices multiply.
fn quotient(program: &Program, id: ExprId) -> Option<(ExprId, ExprId)> {
    let Expr::Binary(BinaryOp::Divide, dividend, divisor) = program[id] else {
        return None;
    };
    let scalars = program.type_of(dividend) == Type::F32 && program.type_of(divisor) == Type::F32;
    (scalars && !matches!(program[divisor], Expr::Literal(_) | Expr::Double(_)))
        .then_some((dividend, divisor))
}

fn can_share(program: &Program, block: &Block, spread: &Spread, first: Site, second: Site) -> bool {
    let least = |site: Site| site.interval.low.abs().min(site.interval.high.abs());
    let most = |site: Site| site.interval.low.abs().max(site.interval.high.abs());
    // Outside these bounds devices may flush a divisor or its reciprocal to 0.
    let is_normal = |site| least(site) >= 2f64.powi(-126) && most(site) <= 2f64.powi(126);
    if !is_normal(first)
        || !is_normal(second)
        || least(first) * least(second) < LEAST
        || most(first) * most(second) > MOST
    {
        return false;
    }
    let spoils = first.may_be_nan || second.may_be_nan;
    if first.stmt == second.stmt {
        let meet = spread.part_of.get(&first.id) == spread.part_of.get(&second.id);
        return (!spoils || meet) && !within(program, second.id, first.id);
    }
    let Stmt::Let { var, value } = block[first.stmt] else {
        return false;
    };
    let spreads = || is_part(program, value, first.id) && follows(program, second.id, var);
    let are_nan_together = || are_nan_together(program, first, second) && spreads();
    let meet = || {
        let Stmt::Let {
            var: other,
            value: quotient,
        } = block[second.stmt]
        else {
            return false;
        };
        is_part(program, value, first.id)
            && is_part(program, quotient, second.id)
            && spread.meet(var, other)
    };
    if spoils && !are_nan_together() && !meet() {
        return false;
    }
    second.stmt - first.stmt <= NEAR
        && !reads(program, second.divisor, var)
        && block[first.stmt + 1..second.stmt].iter().all(|stmt| {
            if stmt.target().is_none() || stmt.blocks().next().is_some() {
                return false;
            }
            let assigned = stmt.target().filter(|_| !matches!(stmt, Stmt::Let { .. }));
            !stmt.roots().iter().any(|&root| reads(program, root, var))
                && !assigned.is_some_and(|assigned| reads(program, value, assigned))
        })
}

/// How NaN propagates from the names of a block.
struct Spread {
    /// Per name that is read: the arithmetic that is NaN if it is, by numbers in the order of the text.
    into: HashMap<VarId, Vec<u32>>,
    /// Per division: the number of the arithmetic that it is part of.
    part_of: HashMap<ExprId, u32>,
    count: u32,
}

impl Spread {
    fn new(program: &Program, block: &Block) -> Spread {
        let mut spread = Spread {
            into: HashMap::new(),
            part_of: HashMap::new(),
            count: 0,
        };
        spread.block(program, block);
        spread
    }

    fn block(&mut self, program: &Program, block: &Block) {
        for stmt in block {
            for &root in stmt.roots().iter() {
                self.tree(program, root);
            }
            for inner in stmt.blocks() {
                stacker::maybe_grow(32 << 10, 1 << 20, || self.block(program, inner));
            }
        }
    }

    /// Visits the arithmetic at `root`, and what is in its terms.
    fn tree(&mut self, program: &Program, root: ExprId) {
        self.count += 1;
        let number = self.count;
        let mut pending = vec![root];
        while let Some(id) = pending.pop() {
            let terms = spreading(program, id);
            if let Expr::Binary(BinaryOp::Divide, ..) = program[id] {
                self.part_of.insert(id, number);
            }
            if let Expr::Read(var) = program[id] {
                let into = self.into.entry(var).or_default();
                if into.last() != Some(&number) {
                    into.push(number);
                }
            } else if terms.is_empty() {
                for &operand in program[id].operands().iter() {
                    self.tree(program, operand);
                }
            }
            pending.extend(terms);
        }
    }

    /// Does every reader of one of two names become NaN if the other one is?
    fn meet(&self, a: VarId, b: VarId) -> bool {
        self.into.contains_key(&a) && self.into.get(&a) == self.into.get(&b)
    }
}

/// Is the first divisor NaN where the second is? It is a name then, and the second implies it.
fn are_nan_together(program: &Program, first: Site, second: Site) -> bool {
    matches!(program[second.divisor], Expr::Read(var) if follows(program, first.divisor, var))
}

/// Is the value of a tree NaN where `part` of it is?
fn is_part(program: &Program, id: ExprId, part: ExprId) -> bool {
    id == part || (spreading(program, id).into_iter()).any(|id| is_part(program, id, part))
}

/// Is the value of a tree NaN where the variable is?
fn follows(program: &Program, id: ExprId, var: VarId) -> bool {
    matches!(program[id], Expr::Read(read) if read == var)
        || (spreading(program, id).into_iter()).any(|id| follows(program, id, var))
}

/// The operands any of which makes a node NaN if it is: those of arithmetic.
fn spreading(program: &Program, id: ExprId) -> Vec<ExprId> {
    let is_arithmetic = matches!(
        program[id],
        Expr::Unary(UnaryOp::Negate, _)
            | Expr::Binary(
                BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide,
                ..
            )
    );
    if is_arithmetic {
        program[id].operands().to_vec()
    } else {
        Vec::new()
    }
}

/// Is `part` in the tree at `id`?
fn within(program: &Program, id: ExprId, part: ExprId) -> bool {
    program.nodes(id).any(|id| id == part)
}

fn reads(program: &Program, id: ExprId, var: VarId) -> bool {
    let mut nodes = program.nodes(id);
    nodes.any(|id| program[id].variable() == Some(var))
}

/// Rewrites pairs of divisions, in the order of the statements.
fn share(program: &mut Program, block: &mut Block, pairs: &[(Site, Site)]) {
    if pairs.is_empty() {
        return;
    }
    let mut pairs = pairs.iter().peekable();
    // A name that is being moved down. The next pair begins where one ends, or later, so there is one at
    // most.
    let mut moved = None;
    let mut new = Vec::with_capacity(block.len() + 3 * pairs.len());
    for (at, stmt) in std::mem::take(block).into_iter().enumerate() {
        while let Some((first, second)) = pairs.next_if(|(_, second)| second.stmt == at) {
            share_pair(program, *first, *second, &mut new);
            new.extend(moved.take());
        }
        match pairs.peek() {
            Some((first, _)) if first.stmt == at => moved = Some(stmt),
            Some(_) | None => new.push(stmt),
        }
    }
    *block = new;
}

/// Adds the names that two divisions share to `names`, and replaces the divisions by products.
fn share_pair(program: &mut Program, first: Site, second: Site, names: &mut Vec<Stmt>) {
    let span = program.span(second.id);
    let pair = [first, second].map(|site| {
        let (dividend, divisor) = quotient(program, site.id).expect("a site is a division");
        let var = name(program, "divisor", divisor, names);
        (site.id, dividend, var)
    });
    let [(_, above, first), (_, below, second)] = pair;
    let one = Expr::Literal(Value::F32(1.0));
    let common = match (&program[above], &program[below]) {
        (Expr::Literal(Value::F32(a)), Expr::Literal(Value::F32(b)))
            if a == b && COMMON.contains(&a.abs()) =>
        {
            Some(Expr::Literal(Value::F32(*a)))
        }
        _ => None,
    };
    let dividend = program.add(common.clone().unwrap_or(one), span);
    let product = binary(program, BinaryOp::Multiply, [first, second], span);
    let value = program.add(Expr::Binary(BinaryOp::Divide, dividend, product), span);
    let reciprocal = name(program, "reciprocal", value, names);
    for ((id, dividend, _), other) in pair.into_iter().zip([second, first]) {
        let own = binary(program, BinaryOp::Multiply, [reciprocal, other], span);
        program[id] = match common {
            Some(_) => program[own].clone(),
            None => Expr::Binary(BinaryOp::Multiply, dividend, own),
        };
    }
}

fn name(program: &mut Program, name: &str, value: ExprId, names: &mut Vec<Stmt>) -> VarId {
    let var = names::fresh(program, name.to_owned(), Type::F32, VarKind::Let);
    names.push(Stmt::Let { var, value });
    var
}

fn binary(program: &mut Program, op: BinaryOp, vars: [VarId; 2], span: Span) -> ExprId {
    let [a, b] = vars.map(|var| program.add(Expr::Read(var), span));
    program.add(Expr::Binary(op, a, b), span)
}
