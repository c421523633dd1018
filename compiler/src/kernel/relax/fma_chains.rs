//! Turns sums into chains of fused multiply-adds: `b + (x * v + y * w)` becomes `b + x * v + y * w`.
//!
//! `a * b + c` is one operation on a device, so a sum costs one per term if its products come last, each
//! added to the chain so far. A product that meets another product, or the end of a nested sum, costs one
//! more. Invariant terms are free if they stand together.
//!
//! Where two chains meet that a device can compute side by side, the longer one chain that they make must
//! save more than one operation: `k1 + 2 * k2 + (x * y - c * z)` stays (Lorenz's system in
//! docs/performance.md), `b + (x * v + y * w)` does not.
//!
//! Invariant: a sum of `f32` is changed only where that saves an operation. Its terms stay the same and in
//! their order, except that invariant ones come first, and products last. A uniform subtree is one term: the
//! step table may have it. Names of sums that are read once, in their own block, are inlined into the sum
//! that reads them. Two kinds of sums stay as they are. A sum that subtracts a term again is there for its
//! rounding; and where a variable adds to itself, roundings of its magnitude would add up over the steps.
//!
//! This is not a pass of the pipeline, as it changes roundings: a kernel's schedule asks for it.

use crate::{
    ir::{
        BinaryOp, Block, Expr, ExprId, Program, Section, Stmt, Type, UnaryOp, VarId, VarKind,
        VarMap,
        uniformity::{Tracking, Uniformity},
    },
    kernel::analysis::{accumulators::Accumulators, free_sums::FreeSums},
    passes::{
        inline_lets::crosses_lanes,
        rewrite::{Clock, reads},
    },
};

/// Terms of a sum beyond which names are not inlined.
const MAX_TERMS: usize = 256;

/// Changes what pays; returns how many sums it changed.
pub(crate) fn run(program: &mut Program) -> u32 {
    let vars = program.vars.len();
    let mut chains = Chains {
        accumulators: Accumulators::new(program, Accumulators::blocks(program)),
        sums: FreeSums::new(program, Accumulators::blocks(program)),
        uniformity: Uniformity::new(program, Tracking::Names),
        reads: reads(program),
        held: VarMap::filled(None, vars),
        inlined: VarMap::filled(false, vars),
        clock: Clock::new(program),
        blocks: 0,
        fixed: VarMap::filled(false, vars),
        place: Section::Init,
        target: None,
        changed: 0,
    };
    program.each_section(|program, place, block| {
        chains.place = place;
        if !matches!(place, Section::InputDefault(_)) {
            chains.block(program, block);
        }
    });
    chains.changed
}

/// A name for a sum or a product that is read once.
#[derive(Clone, Copy)]
struct Held {
    value: ExprId,
    /// When it was defined.
    clock: u32,
    /// In which block.
    block: u32,
}

/// A term of a sum.
struct Term {
    id: ExprId,
    negative: bool,
    kind: Kind,
}

/// Kinds of terms, in the order in which a chain has them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// The same in all steps: the sum of these is hoisted out of the time loop.
    Fixed,
    Other,
    Product,
}

/// An operand of a sum that is being flattened.
struct Part {
    id: ExprId,
    negative: bool,
    /// Was it inlined from a name? Then it was rewritten at the name's definition.
    named: bool,
}

struct Chains {
    accumulators: Accumulators,
    sums: FreeSums,
    uniformity: Uniformity,
    reads: VarMap<u32>,
    held: VarMap<Option<Held>>,
    inlined: VarMap<bool>,
    clock: Clock,
    /// Blocks so far: the number of the last one.
    blocks: u32,
    /// Per variable: is it a name of the prologue?
    fixed: VarMap<bool>,
    place: Section,
    /// The variable that the current statement assigns.
    target: Option<VarId>,
    changed: u32,
}

impl Chains {
    fn block(&mut self, program: &mut Program, block: &mut Block) {
        self.blocks += 1;
        let number = self.blocks;
        for stmt in block.iter_mut() {
            self.target = if let Stmt::Assign { var, .. } = stmt {
                Some(*var)
            } else {
                None
            };
            for &root in stmt.roots().iter() {
                self.tree(program, root, number);
            }
            if let Stmt::Let { var, value } = stmt {
                self.fixed[*var] = self.place == Section::Prologue;
                let once = self.reads[*var] == 1;
                if once && program[*var].ty == Type::F32 && !crosses_lanes(program, *value) {
                    self.held[*var] = Some(Held {
                        value: *value,
                        clock: self.clock.now(),
                        block: number,
                    });
                }
            }
            self.clock.pass(stmt);
            for inner in stmt.blocks_mut() {
                stacker::maybe_grow(32 << 10, 1 << 20, || self.block(program, inner));
            }
        }
        block.retain(|stmt| !matches!(stmt, Stmt::Let { var, .. } if self.inlined[var]));
    }

    /// Rewrites the sums in a tree.
    fn tree(&mut self, program: &mut Program, id: ExprId, block: u32) {
        if sum(program, id).is_some()
            && program.type_of(id) == Type::F32
            && !self.uniformity.find(program, id).is_uniform()
        {
            self.sum(program, id, block);
            return;
        }
        for &operand in program[id].operands().iter() {
            self.tree(program, operand, block);
        }
    }

    /// Rewrites a sum and the sums in its terms.
    fn sum(&mut self, program: &mut Program, root: ExprId, block: u32) {
        let mut terms = Vec::new();
        let mut names = Vec::new();
        // Products that no addition absorbs.
        let mut loose = 0;
        // Sums that begin with a chain and end with another.
        let mut joints = 0;
        let mut stack = vec![Part {
            id: root,
            negative: false,
            named: false,
        }];
        while let Some(part) = stack.pop() {
            let few = terms.len() + stack.len() < MAX_TERMS;
            let name = self.name(program, part.id, block).filter(|_| few);
            let id = name.map_or(part.id, |(_, value)| value);
            let Some((op, a, b)) =
                sum(program, id).filter(|_| !self.uniformity.find(program, id).is_uniform())
            else {
                if !part.named {
                    for &operand in program[part.id].operands().iter() {
                        self.tree(program, operand, block);
                    }
                }
                terms.push(Term {
                    id: part.id,
                    negative: part.negative,
                    kind: self.kind(program, part.id, block),
                });
                continue;
            };
            names.extend(name.map(|(var, _)| var));
            let both = [a, b].map(|id| self.is_product(program, id, block));
            loose += usize::from(both == [true, true]);
            let both = [a, b].map(|id| few && self.is_sum(program, id, block));
            joints += usize::from(both == [true, true]);
            let named = part.named || name.is_some();
            for (id, negative) in [(b, op == BinaryOp::Subtract), (a, false)] {
                let negative = negative != part.negative;
                stack.push(Part {
                    id,
                    negative,
                    named,
                });
            }
        }
        let count = |kind: Kind| terms.iter().filter(|term| term.kind == kind).count();
        let (fixed, products) = (count(Kind::Fixed), count(Kind::Product));
        let needed = usize::from(products == terms.len());
        let pays = products > 0 && loose + fixed.saturating_sub(1) > needed + joints;
        let accumulates =
            |term: &Term| Some(&program[term.id]) == self.target.map(Expr::Read).as_ref();
        let listed = terms.iter().map(|term| (term.id, term.negative)).collect();
        if pays
            && !self.accumulators.contains(root)
            && !terms.iter().any(accumulates)
            && !self.sums.terms_take_off(program, listed)
        {
            self.changed += 1;
            for var in names {
                self.inlined[var] = true;
            }
            chain(program, root, terms);
        }
    }

    /// The value of a name that this is the only read of, if it may be evaluated here as well.
    fn name(&self, program: &Program, id: ExprId, block: u32) -> Option<(VarId, ExprId)> {
        let Expr::Read(var) = program[id] else {
            return None;
        };
        let held = self.held[var].filter(|held| held.block == block)?;
        let stays = self.clock.is_unchanged(program, held.value, held.clock);
        stays.then_some((var, held.value))
    }

    /// Is it a sum, by name or not, that is merged into the sum of which it is a term?
    fn is_sum(&mut self, program: &Program, id: ExprId, block: u32) -> bool {
        let id = (self.name(program, id, block)).map_or(id, |(_, value)| value);
        sum(program, id).is_some() && !self.uniformity.find(program, id).is_uniform()
    }

    fn kind(&mut self, program: &Program, id: ExprId, block: u32) -> Kind {
        let fixed = if let Expr::Read(var) = program[id] {
            self.fixed[var] || program[var].kind == VarKind::Param
        } else {
            matches!(program[id], Expr::Literal(_) | Expr::Double(_))
        };
        if fixed && self.place.is_phase() {
            Kind::Fixed
        } else if self.is_product(program, id, block) {
            Kind::Product
        } else {
            Kind::Other
        }
    }

    /// Is it a product, by name or not, that a device fuses into an addition?
    fn is_product(&mut self, program: &Program, id: ExprId, block: u32) -> bool {
        let id = if let Expr::Read(var) = program[id] {
            match self.held[var] {
                Some(held) if held.block == block => held.value,
                Some(_) | None => return false,
            }
        } else {
            id
        };
        matches!(program[id], Expr::Binary(BinaryOp::Multiply, ..))
            && !self.uniformity.find(program, id).is_uniform()
    }
}

/// The operator and operands of a sum or difference.
fn sum(program: &Program, id: ExprId) -> Option<(BinaryOp, ExprId, ExprId)> {
    if let Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Subtract), a, b) = program[id] {
        Some((op, a, b))
    } else {
        None
    }
}

/// Makes the sum at `root` a chain of its terms, products last.
fn chain(program: &mut Program, root: ExprId, mut terms: Vec<Term>) {
    let span = program.span(root);
    terms.sort_by_key(|term| term.kind);
    let mut last = Expr::Literal(crate::ir::Value::F32(-0.0));
    for (at, term) in terms.into_iter().enumerate() {
        last = match (at, term.negative) {
            (0, false) => program[term.id].clone(),
            (0, true) => Expr::Unary(UnaryOp::Negate, term.id),
            (_, negative) => {
                let op = match negative {
                    true => BinaryOp::Subtract,
                    false => BinaryOp::Add,
                };
                let before = program.add(last, span);
                Expr::Binary(op, before, term.id)
            }
        };
    }
    program[root] = last;
}
