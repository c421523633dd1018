//! Which elements of arrays a program reads and writes, and whose they are if the array is split.

use crate::{
    builtin::BuiltinId,
    ir::{BinaryOp, Expr, ExprId, Program, VarId, VarKind},
    passes::rewrite::literal_i32,
};
use std::collections::{BTreeSet, HashMap};

/// An element that is read or written.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) array: VarId,
    /// Elements of the array, if lanes can have parts of it.
    pub(crate) elements: Option<u32>,
    /// The root of its index, which names the access.
    pub(crate) index: ExprId,
    pub(crate) writes: bool,
    /// All loops around it, outermost first.
    pub(crate) around: Vec<usize>,
    /// How many of them are around the declaration of the array, too.
    pub(crate) outside: usize,
    /// The loops on whose indices it depends which element it is.
    pub(crate) varies: BTreeSet<usize>,
    /// The loops on whose indices it depends whether it is accessed; none if that may depend on anything.
    pub(crate) control: Option<BTreeSet<usize>>,
    /// The index as a sum, if it is one.
    pub(crate) sum: Option<Linear>,
    /// The element's distance from that at a loop's index, if it is one near it.
    pub(crate) shift: Option<Shift>,
    /// How often it is accessed per step.
    pub(crate) runs: f64,
}

impl Access {
    /// The loops around it, of those that the array is declared outside of.
    pub(crate) fn inner(&self) -> &[usize] {
        &self.around[self.outside..]
    }
}

/// Which lane has which elements of a split array: that with the coordinate `index / stride % count`, and of
/// these each lane as many as any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Form {
    /// Coordinates.
    pub(crate) count: u32,
    /// The distance between elements whose coordinates are neighbours.
    pub(crate) stride: u32,
    /// Elements of the array.
    pub(crate) elements: u32,
}

impl Form {
    /// A lane has all elements from one to another.
    pub(crate) fn plain(elements: u32) -> Form {
        Form {
            count: elements,
            stride: 1,
            elements,
        }
    }

    /// How many consecutive elements a lane has.
    pub(crate) fn run(self, lanes: u32) -> u32 {
        self.count / lanes * self.stride
    }

    /// The number of elements after which the first coordinate comes again.
    pub(crate) fn period(self) -> u32 {
        self.count * self.stride
    }
}

/// An element some places before or behind that at the index of a loop over all elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shift {
    /// The index of the loop.
    pub(crate) own: VarId,
    /// How many places behind it; negative before it.
    pub(crate) by: i64,
    /// Which element it is beyond the ends.
    pub(crate) edge: Edge,
}

/// Which element is meant beyond the ends of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    /// The nearest one.
    Clamped,
    /// The ends are neighbours.
    Wrapped,
}

/// What a term of an index is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atom {
    /// A variable that keeps its value.
    Var(VarId),
    /// Any other expression.
    Node(ExprId),
}

/// A sum of terms with factors, and a number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Linear {
    pub(crate) terms: Vec<(Atom, i64)>,
    pub(crate) offset: i64,
}

/// What is known of variables that keep their values.
#[derive(Default)]
pub(crate) struct Names {
    values: HashMap<VarId, ExprId>,
    sums: HashMap<VarId, Linear>,
    bounds: HashMap<VarId, [i64; 2]>,
    nodes: HashMap<ExprId, [i64; 2]>,
}

impl Names {
    /// A name has this value.
    pub(crate) fn define(&mut self, program: &Program, var: VarId, value: ExprId) {
        self.values.insert(var, value);
        let sum = self.linear(program, value);
        let keeps = |atom: &Atom| match atom {
            Atom::Var(_) => true,
            Atom::Node(_) => false,
        };
        if let Some(sum) = sum.filter(|sum| sum.terms.iter().all(|(atom, _)| keeps(atom))) {
            self.sums.insert(var, sum);
        }
        if let Some(bounds) = self.bounds_of(program, value) {
            self.bounds.insert(var, bounds);
        }
    }

    /// An index of a loop has values from `first` to `last`.
    pub(crate) fn bound(&mut self, var: VarId, first: i64, last: i64) {
        self.bounds.insert(var, [first, last]);
    }

    /// An integer as a sum.
    pub(crate) fn linear(&mut self, program: &Program, id: ExprId) -> Option<Linear> {
        let atom = |atom| Linear {
            terms: vec![(atom, 1)],
            offset: 0,
        };
        if let Some(offset) = literal_i32(program, id) {
            return Some(Linear {
                terms: Vec::new(),
                offset: offset.into(),
            });
        }
        if let Expr::Read(var) = program[id]
            && keeps_value(program[var].kind)
        {
            let sum = self.sums.get(&var).cloned();
            return Some(sum.unwrap_or_else(|| atom(Atom::Var(var))));
        }
        if let Expr::Binary(BinaryOp::Add, a, b) = program[id] {
            return self.linear(program, a)?.plus(self.linear(program, b)?, 1);
        }
        if let Expr::Binary(BinaryOp::Subtract, a, b) = program[id] {
            return self.linear(program, a)?.plus(self.linear(program, b)?, -1);
        }
        if let Expr::Binary(BinaryOp::Multiply, a, b) = program[id] {
            let (sum, factor) = match (literal_i32(program, a), literal_i32(program, b)) {
                (_, Some(factor)) => (self.linear(program, a)?, factor),
                (Some(factor), _) => (self.linear(program, b)?, factor),
                (None, None) => return Some(atom(Atom::Node(id))),
            };
            return Linear::default().plus(sum, factor.into());
        }
        if let Some(bounds) = self.bounds_of(program, id) {
            self.nodes.insert(id, bounds);
        }
        Some(atom(Atom::Node(id)))
    }

    /// Between which numbers an integer is, if that is plain to see.
    fn bounds_of(&self, program: &Program, id: ExprId) -> Option<[i64; 2]> {
        if let Expr::Read(var) = program[id] {
            return self.bounds.get(&var).copied();
        }
        let Expr::Builtin(BuiltinId::CLAMP, args) = &program[id] else {
            return None;
        };
        let literal = |at: usize| literal_i32(program, args[at]).map(i64::from);
        Some([literal(1)?, literal(2)?])
    }

    /// How far an index into so many elements is from that of a loop over them.
    pub(crate) fn shift(&mut self, program: &Program, id: ExprId, elements: u32) -> Option<Shift> {
        if let Expr::Read(var) = program[id] {
            let value = *self.values.get(&var)?;
            return self.shift(program, value, elements);
        }
        let last = i64::from(elements) - 1;
        let literal = |id: ExprId| literal_i32(program, id).map(i64::from);
        if let Expr::Binary(BinaryOp::Remainder, a, b) = program[id] {
            let (own, by) = self.near(program, a)?;
            let near = by - if by > last / 2 { last + 1 } else { 0 };
            let (by, edge) = (near, Edge::Wrapped);
            let wraps = literal(b) == Some(last + 1) && by >= -last - 1;
            return wraps.then_some(Shift { own, by, edge });
        }
        let Expr::Builtin(builtin, args) = &program[id] else {
            return None;
        };
        let clamped = |by: i64| match (*builtin, &args[1..]) {
            (BuiltinId::CLAMP, &[low, high]) => {
                literal(low) == Some(0) && literal(high) == Some(last)
            }
            (BuiltinId::MAX, &[low]) => literal(low) == Some(0) && by < 0,
            (BuiltinId::MIN, &[high]) => literal(high) == Some(last) && by > 0,
            _ => false,
        };
        let edge = Edge::Clamped;
        if let Some((own, by)) = self.near(program, args[0]) {
            return clamped(by).then_some(Shift { own, by, edge });
        }
        // What is clamped already.
        (self.shift(program, args[0], elements)).filter(|shift| clamped(shift.by))
    }

    /// A variable plus a number.
    fn near(&mut self, program: &Program, id: ExprId) -> Option<(VarId, i64)> {
        let sum = self.linear(program, id)?;
        match sum.terms.as_slice() {
            [(Atom::Var(own), 1)] if sum.offset != 0 => Some((*own, sum.offset)),
            _ => None,
        }
    }

    /// The form in which the elements at this index belong to the lane that has iteration `own` of `count`.
    pub(crate) fn form(&self, sum: &Linear, own: VarId, count: u32, elements: u32) -> Option<Form> {
        let is_own = |(atom, _): &&(Atom, i64)| *atom == Atom::Var(own);
        let stride = sum.terms.iter().find(is_own)?.1;
        let form = Form {
            count,
            stride: u32::try_from(stride).ok().filter(|stride| *stride > 0)?,
            elements,
        };
        let period = u64::from(count) * u64::from(form.stride);
        if period > elements.into() || !u64::from(elements).is_multiple_of(period) {
            return None;
        }
        // What is added to a multiple of the period must not reach the next coordinate.
        let period = period as i64;
        let mut last = sum.offset.rem_euclid(period);
        for (atom, factor) in &sum.terms {
            if *atom == Atom::Var(own) || factor % period == 0 {
                continue;
            }
            let [low, high] = match atom {
                Atom::Var(var) => *self.bounds.get(var)?,
                Atom::Node(id) => *self.nodes.get(id)?,
            };
            if *factor < 0 || low < 0 {
                return None;
            }
            last = last.checked_add(factor.checked_mul(high)?)?;
        }
        (last < stride).then_some(form)
    }
}

impl Linear {
    /// How much further an element is where a variable is one more; 1 if that is not known.
    pub(crate) fn factor(&self, var: VarId) -> i64 {
        let term = (self.terms.iter()).find(|(atom, _)| *atom == Atom::Var(var));
        term.map_or(1, |(_, factor)| *factor)
    }

    /// This sum plus a multiple of another one. None where factors are too large.
    fn plus(mut self, other: Linear, factor: i64) -> Option<Linear> {
        for (atom, by) in other.terms {
            let by = by.checked_mul(factor)?;
            match self.terms.iter_mut().find(|(known, _)| *known == atom) {
                Some((_, sum)) => *sum = sum.checked_add(by)?,
                None => self.terms.push((atom, by)),
            }
        }
        self.terms.retain(|(_, factor)| *factor != 0);
        let offset = other.offset.checked_mul(factor)?;
        self.offset = self.offset.checked_add(offset)?;
        let small = |number: i64| i32::try_from(number).is_ok();
        let fine = small(self.offset) && self.terms.iter().all(|(_, factor)| small(*factor));
        fine.then_some(self)
    }
}

/// Does a variable of this kind have one value from where it is declared?
fn keeps_value(kind: VarKind) -> bool {
    match kind {
        VarKind::Let | VarKind::Index | VarKind::Param | VarKind::Argument => true,
        VarKind::Constant
        | VarKind::Data
        | VarKind::Input
        | VarKind::State
        | VarKind::Output
        | VarKind::Record
        | VarKind::WorldInput
        | VarKind::WorldState
        | VarKind::WorldOutput
        | VarKind::WorldRecord
        | VarKind::Local => false,
    }
}
