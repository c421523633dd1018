//! Between which numbers a value lies, whatever the run is. What is not known has no interval; a float that
//! can be NaN has none either.

use super::Facts;
use crate::{
    builtin::{BuiltinId, Draw, Fold},
    hir::{
        BinaryOp, Constant, Domain, ExprId, ExprKind, InputSource, LocalId, LocalKind, StmtKind,
        Type,
    },
    ir::Launch,
};
use std::{cell::RefCell, collections::HashMap};

/// From the first to the second number, both included; integers of 32 bits are exact.
pub(super) type Interval = (f64, f64);

/// Values of values are looked through so often, which bounds the stack.
const MAX_DEPTH: u32 = 64;

/// What decides the values of variables.
pub(super) struct Intervals<'f, 'a> {
    facts: &'f Facts<'a>,
    indices: HashMap<LocalId, (ExprId, ExprId)>,
    values: HashMap<LocalId, ExprId>,
    /// What was found before: each expression is looked at once.
    found: RefCell<HashMap<ExprId, Option<Interval>>>,
}

impl<'f, 'a> Intervals<'f, 'a> {
    pub(super) fn of(facts: &'f Facts<'a>) -> Self {
        let (mut indices, mut values) = (HashMap::new(), HashMap::new());
        for stmt in &facts.statements {
            match &stmt.kind {
                StmtKind::For {
                    index,
                    domain: Domain::Range(start, end),
                    ..
                } => {
                    indices.insert(*index, (*start, *end));
                }
                StmtKind::Declare { local, value }
                    if facts.model[*local].kind == LocalKind::Let =>
                {
                    values.insert(*local, *value);
                }
                _ => {}
            }
        }
        for id in facts.within(facts.roots()) {
            if let ExprKind::Fold(_, over) | ExprKind::Comprehension(over) = &facts.model[id].kind
                && let Domain::Range(start, end) = over.domain
            {
                indices.insert(over.index, (start, end));
            }
        }
        Intervals {
            facts,
            indices,
            values,
            found: RefCell::default(),
        }
    }

    /// That of an expression.
    pub(super) fn interval(&self, id: ExprId) -> Option<Interval> {
        self.bounded(id, MAX_DEPTH)
    }

    fn bounded(&self, id: ExprId, depth: u32) -> Option<Interval> {
        if let Some(found) = self.found.borrow().get(&id) {
            return *found;
        }
        let interval = self.in_type(id, depth);
        self.found.borrow_mut().insert(id, interval);
        interval
    }

    fn in_type(&self, id: ExprId, depth: u32) -> Option<Interval> {
        let ty = &self.facts.model[id].ty;
        let all = match ty {
            _ if *ty == Type::I32 => Some((f64::from(i32::MIN), f64::from(i32::MAX))),
            _ if *ty == Type::U32 => Some((0.0, f64::from(u32::MAX))),
            _ if *ty == Type::F32 || ty.is_abstract() => None,
            _ => return None,
        };
        let known = depth.checked_sub(1).and_then(|depth| self.known(id, depth));
        match (known, all) {
            // What goes beyond the type wraps around.
            (Some(known), Some(all)) if known.0 < all.0 || known.1 > all.1 => Some(all),
            (Some(known), _) => Some(known),
            (None, all) => all,
        }
    }

    fn known(&self, id: ExprId, depth: u32) -> Option<Interval> {
        let model = self.facts.model;
        let of = |id| self.bounded(id, depth);
        let is_float = model[id].ty == Type::F32;
        match &model[id].kind {
            ExprKind::Constant(constant) => {
                let number = constant.as_number().filter(|number| !number.is_nan())?;
                Some((number, number))
            }
            ExprKind::Local(local) => match self.indices.get(local) {
                Some((start, end)) => {
                    let (low, high) = (of(*start)?.0, of(*end)?.1 - 1.0);
                    (low <= high).then_some((low, high))
                }
                None => of(*self.values.get(local)?),
            },
            ExprKind::Param(param) => model[*param].range.map(|[low, high]| (low, high)),
            ExprKind::Input(input) if is_float => match model[*input].source {
                InputSource::Drawn(draw) => of(draw),
                InputSource::Required | InputSource::Default(_) => None,
            },
            ExprKind::Launch(launch) => {
                let least = u8::from(matches!(launch, Launch::Agents));
                Some((f64::from(least), f64::from(i32::MAX)))
            }
            ExprKind::Rows(_) => Some((1.0, f64::from(i32::MAX))),
            // 24 random bits.
            ExprKind::Draw(Draw::Random, _) => Some((0.0, 1.0 - f64::from(f32::EPSILON) / 2.0)),
            ExprKind::Fold(Fold::Count, _) | ExprKind::FoldArray(Fold::Count, _) => {
                Some((0.0, f64::from(i32::MAX)))
            }
            ExprKind::If {
                branches,
                otherwise,
            } => {
                let mut joined = of(*otherwise)?;
                for (_, value) in branches {
                    let (low, high) = of(*value)?;
                    joined = (joined.0.min(low), joined.1.max(high));
                }
                Some(joined)
            }
            ExprKind::Binary(op, a, b) if !is_float => combined(*op, of(*a)?, of(*b)?),
            ExprKind::Builtin(builtin, args) if !is_float => match args[..] {
                [one] if *builtin == BuiltinId::ABS => {
                    let (low, high) = of(one)?;
                    let most = low.abs().max(high.abs());
                    // The smallest integer has no opposite.
                    (most <= f64::from(i32::MAX)).then_some((0.0, most))
                }
                [a, b] if *builtin == BuiltinId::MIN || *builtin == BuiltinId::MAX => {
                    let (a, b) = (of(a)?, of(b)?);
                    Some(match *builtin == BuiltinId::MIN {
                        true => (a.0.min(b.0), a.1.min(b.1)),
                        false => (a.0.max(b.0), a.1.max(b.1)),
                    })
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// That of `a op b` of integers, before they wrap.
fn combined(op: BinaryOp, a: Interval, b: Interval) -> Option<Interval> {
    if op == BinaryOp::Add {
        return Some((a.0 + b.0, a.1 + b.1));
    }
    if op == BinaryOp::Subtract {
        return Some((a.0 - b.1, a.1 - b.0));
    }
    if op == BinaryOp::Remainder && b.0 == b.1 && b.0 > 0.0 {
        let most = b.0 - 1.0;
        let low = if a.0 >= 0.0 { 0.0 } else { -most };
        return Some((low, if a.1 <= 0.0 { 0.0 } else { most }));
    }
    None
}

/// A constant number.
pub(super) fn number(constant: &Constant) -> Option<f64> {
    constant.as_number().filter(|number| !number.is_nan())
}
